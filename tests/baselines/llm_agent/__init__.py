"""Tests of the language model as an agent."""
