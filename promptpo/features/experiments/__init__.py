"""Experiments that the model writes to learn about the environment."""
