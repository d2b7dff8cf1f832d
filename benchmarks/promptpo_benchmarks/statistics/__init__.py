"""Finished cells as rows, and the numbers that are made of them."""
