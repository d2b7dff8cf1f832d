"""What a program changed against the one that it was to improve, so that the next answer does not try it again."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from promptpo.program import Program
from promptpo.telling.programs import changes
from promptpo.telling.shortening import last_sentences

if TYPE_CHECKING:
    from promptpo.run.records import Attempt
    from promptpo.search.history import History

MOST_CHANGED = 8
"""Lines taken out and put in up to which they are shown; of more its author's words say what they do."""

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def base_of(attempt: Attempt, history: History) -> Attempt | None:
    """The program that a candidate was asked to improve; None where it was asked for something else."""
    asked = history.asked.get(attempt.id)
    return (
        history.find(asked.base)
        if asked is not None and asked.base and asked.direction == "improve"
        else None
    )


def changed(attempt: Attempt, base: Attempt, most: int, *, lines: bool = True) -> str:
    """What a program changed, in about so many characters: lines or numbers where these are few, else in its author's words.

    Args:
        attempt: The program.
        base: The one that it was to improve.
        most: Characters.
        lines: Whether lines of code may be shown.

    Returns:
        A sentence, or some lines marked as in a unified diff; empty where neither says anything.
    """
    mine, theirs = attempt.candidate.source, base.candidate.source
    moved = changes(mine, theirs)
    numbers = f"{base.id} with other numbers: {moved}." if moved else ""
    if Program.parse(mine).skeleton == Program.parse(theirs).skeleton and numbers:
        return numbers if len(numbers) <= 2 * most else f"{base.id} with other numbers."
    code = list(_changed_lines(mine, theirs)) if lines else []
    told = "\n".join([f"Against {base.id}{', beside numbers' if moved else ''}:", *code])
    if 0 < len(code) <= MOST_CHANGED and len(told) <= most:
        return told
    words = last_sentences(attempt.prose, most)
    return f"Against {base.id}: {words}" if words else ""


def _changed_lines(mine: str, theirs: str) -> Iterator[str]:
    """Lines that are out and in; those that differ in numbers only are the same."""
    old, new = _lines(theirs), _lines(mine)
    matcher = difflib.SequenceMatcher(
        None, [mask for mask, _ in old], [mask for mask, _ in new], autojunk=False
    )
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            yield from (f"- {line}" for _, line in old[a:b])
            yield from (f"+ {line}" for _, line in new[c:d])


def _lines(source: str) -> list[tuple[str, str]]:
    """The lines of code of a module, without comments, docstring and layout, each with its numbers masked."""
    text = Program.parse(source).without_docstring
    kept = (re.sub(r"\s+#.*", "", line.strip()) for line in text.splitlines())
    return [(_NUMBER.sub("0", line), line) for line in kept if line and not line.startswith("#")]
