"""Cells of a suite: what is run, how, in which processes, and what it will take."""
