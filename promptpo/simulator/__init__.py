"""Simulators that a language model writes: checked, fitted to a few real steps, and searched in for policies."""
