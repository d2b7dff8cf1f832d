"""Simulators of learnt formulas, for runs without a language model."""
