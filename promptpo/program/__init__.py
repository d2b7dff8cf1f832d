"""A policy's source as a value."""
