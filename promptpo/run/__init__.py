"""A run on disk: its state, origin, settings and costs."""
