"""Displays of a run in progress: in a terminal, in a notebook's cell, as lines."""
