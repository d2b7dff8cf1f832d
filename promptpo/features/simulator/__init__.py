"""Search in a simulator that the model writes: requested, fitted to a few real steps, searched in, verified by real episodes."""
