"""Prompts: the text that a model is shown."""
