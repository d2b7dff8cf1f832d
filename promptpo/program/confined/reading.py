"""What the reader is asked for: all that is parsed of texts which models, guests and strangers wrote.

Everything in this folder runs in the reader, a confined process, and nowhere else.
"""

from __future__ import annotations

from typing import Any

from promptpo.program.confined.answers import every, extract
from promptpo.program.confined.expressions import is_plain_expression
from promptpo.program.confined.module import Module
from promptpo_sandbox.guest.plain import PlainDataError, encode

__all__ = ["every", "extract", "is_plain_expression", "of_module"]


def of_module(source: str, name: str, *arguments: Any) -> Any:
    """What a module is like: a property of `Module`, or what a method gives; its text where that is a module.

    None where it is no plain data: a table of sets, say.
    """
    found = getattr(Module.parse(source), name)
    found = found(*arguments) if callable(found) else found
    if isinstance(found, Module):
        return found.source
    try:
        encode(found)
    except PlainDataError:
        return None
    return found
