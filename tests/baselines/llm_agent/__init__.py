"""Tests of the language model that acts by itself."""
