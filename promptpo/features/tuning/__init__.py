"""Derivative-free tuning of the numbers that a policy declares."""
