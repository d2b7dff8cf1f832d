"""Extraction of programs from raw answers of language models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from promptpo.program.reader import UnreadableError, read

Problem = Literal["thought", "refused", "empty", "cut", "no_code", "too_long", "unreadable"]


@dataclass(frozen=True, slots=True)
class Answer:
    """Contents of an answer.

    Attributes:
        source: A Python module that defines the requested class; empty if there is a problem.
        problem: Why there is no source; None if there is one.
        prose: The text around the code, for people.
    """

    source: str
    problem: Problem | None = None
    prose: str = ""


def extract_program(text: str, *, class_name: str = "Policy", cut: bool = False) -> Answer:
    """Find the module in an answer that defines `class_name`.

    Args:
        text: The raw answer.
        class_name: The requested class.
        cut: Whether the provider reports that the answer hit its token limit.
    """
    try:
        return Answer(*read("cut_out_program", text, class_name, cut))
    except UnreadableError:
        return Answer("", "unreadable")


def every(text: str, *, class_name: str) -> tuple[str, ...]:
    """Return all modules of an answer that define a class, or are meant to, in order.

    Args:
        text: The raw answer.
        class_name: The requested class.
    """
    try:
        return tuple(read("every", text, class_name))
    except UnreadableError:
        return ()
