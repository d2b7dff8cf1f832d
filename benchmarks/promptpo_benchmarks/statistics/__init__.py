"""Finished cells as rows, and statistics of them."""
