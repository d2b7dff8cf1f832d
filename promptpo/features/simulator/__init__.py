"""Search in a simulator that the model writes: asked for, fitted to a few real steps, searched in, verified by real episodes."""
