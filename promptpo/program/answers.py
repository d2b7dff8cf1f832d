"""From the raw answer of a language model to one policy module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from promptpo.program.reader import UnreadableError, read

Problem = Literal["thought", "refused", "empty", "cut", "no_code", "too_long", "unreadable"]


@dataclass(frozen=True, slots=True)
class Answer:
    """Contents of an answer.

    Attributes:
        source: A Python module that defines the class asked for; empty when there is a problem.
        problem: Why there is no source; None when there is one.
        prose: The text around the code, for people.
    """

    source: str
    problem: Problem | None = None
    prose: str = ""


def extract_program(text: str, *, class_name: str = "Policy", cut: bool = False) -> Answer:
    """Find the module that defines `class_name` in an answer.

    Args:
        text: The raw answer.
        class_name: The class that is wanted.
        cut: The provider says that the answer hit its token limit.
    """
    try:
        return Answer(*read("cut_out_program", text, class_name, cut))
    except UnreadableError:
        return Answer("", "unreadable")


def every(text: str, *, class_name: str) -> tuple[str, ...]:
    """All modules of an answer that define a class, or were to define it, in their order.

    Args:
        text: The raw answer.
        class_name: The class that is wanted.
    """
    try:
        return tuple(read("every", text, class_name))
    except UnreadableError:
        return ()
