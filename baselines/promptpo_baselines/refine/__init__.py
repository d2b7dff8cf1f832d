"""Residual policy learning: a written program as a prior, and a small network for what it leaves open."""
