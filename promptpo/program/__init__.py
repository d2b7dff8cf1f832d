"""A policy's source as a value: parsed once, never run, rewritten without changing its behaviour."""

from promptpo.program.program import Program

__all__ = ["Program"]
