"""A policy's source as a value: read once, never run, rewritten without changing what it does."""

from promptpo.program.program import Program

__all__ = ["Program"]
