"""Ablations: two versions of the code on the same recorded answers, and the table of their differences."""
