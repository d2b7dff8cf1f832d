"""Cells of a suite: their commands, processes, and estimates of their cost."""
