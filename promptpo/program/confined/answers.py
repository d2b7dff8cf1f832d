"""From the raw answer of a language model to one policy module.

Nothing here runs an answer; `ast` only reads it.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from promptpo.program.confined.tree import MAX_SOURCE_BYTES, bound_here, parse
from promptpo_sandbox.text import clean_answer

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+.-]*)[^\n]*$", re.MULTILINE)
_MARKS = re.compile(r"`{3,}|~{3,}")
_THINK = re.compile(r"<(/?)(think|thinking|reasoning)>", re.IGNORECASE)


_EXPERIMENT = re.compile(r"^class Probe\b", re.MULTILINE)


def extract(text: str, class_name: str, cut: bool) -> tuple[str, str | None, str]:
    """Source, problem and prose of the module that defines `class_name` in an answer.

    Copes with several fences, none, prose around them, thinking blocks and Windows line ends. When several blocks
    qualify the last one wins: models put their final version last; but an experiment that has a policy inside only
    where nothing else has one. Takes time in proportion to the text's length.
    """
    text = _without_thinking(clean_answer(text))
    if not text.strip():
        return "", "cut" if cut else "empty", ""
    blocks = [*_fenced(text)]
    codes = [_code(block) for block, _ in blocks] or [_code(text), *map(_code, _tail_of_prose(text))]
    prose = _prose(text)
    if len(blocks) < 2 and any(map(_too_long, codes)):  # noqa: PLR2004 - another one may be what is wanted
        return "", "too_long", prose
    found = [(*_ours(code, class_name), n) for n, code in enumerate(codes) if not _too_long(code)]
    whole, _, at = max(found, default=(_OTHER, False, 0))
    if whole == _OTHER or (cut and whole == _BROKEN):
        unfinished = cut or not all(closed for _, closed in blocks)
        return "", "cut" if unfinished else "no_code", prose
    return codes[at] + "\n", None, prose


def every(text: str, class_name: str) -> tuple[str, ...]:
    """All modules of an answer that define a class, or were to define it, in their order."""
    text = _without_thinking(clean_answer(text))
    codes = [_code(block) for block, _ in _fenced(text)]
    if not codes:
        source, _, _ = extract(text, class_name, cut=False)
        return (source,) if source else ()
    ours = [code for code in codes if not _too_long(code) and _ours(code, class_name)[0] != _OTHER]
    return tuple(dict.fromkeys(f"{code}\n" for code in ours))


def _code(block: str) -> str:
    return textwrap.dedent(block).strip("\n").expandtabs(4)


def _too_long(code: str) -> bool:
    return len(code.encode("utf-8", "surrogatepass")) > MAX_SOURCE_BYTES


_OTHER, _BROKEN, _WHOLE = range(3)


def _ours(code: str, class_name: str) -> tuple[int, bool]:
    """Whether a module defines the class, and whether that is all that it is for."""
    tree = parse(code)
    broken = _BROKEN if tree is None and f"class {class_name}" in code else _OTHER
    whole = _WHOLE if tree is not None and class_name in bound_here(tree.body) else broken
    return whole, not (class_name == "Policy" and _EXPERIMENT.search(code))


def _without_thinking(text: str) -> str:
    """The text without thinking blocks; from one that is never closed on, nothing is an answer."""
    tags = [(found.start(), found.end(), found[1], found[2].lower()) for found in _THINK.finditer(text)]
    closings: dict[str, list[int]] = {}
    for _, end, slash, kind in reversed(tags):
        if slash:
            closings.setdefault(kind, []).append(end)  # the nearest one last
    kept, position = [], 0
    for start, end, slash, kind in tags:
        if slash or start < position:
            continue
        kept.append(text[position:start])
        ends = closings.get(kind, [])
        while ends and ends[-1] <= end:
            ends.pop()
        if not ends:
            return "".join(kept)
        position = ends[-1]
    return "".join([*kept, text[position:]])


def _fenced(text: str) -> Iterator[tuple[str, bool]]:
    """Yield (code, whether its fence was closed) for every Python or unlabelled fence."""
    position = 0
    while opening := _FENCE.search(text, position):
        marks, language = opening.group(1), opening.group(2).lower()
        closing = re.compile(rf"^[ \t]*{re.escape(marks[0])}{{{len(marks)},}}[ \t]*$", re.MULTILINE)
        end = closing.search(text, opening.end())
        body = text[opening.end() + 1 : end.start() if end else len(text)]
        if language in {"", "python", "py", "python3"}:
            yield body, end is not None
        position = end.end() if end else len(text)


def _tail_of_prose(text: str) -> Iterator[str]:
    """For answers without a fence: the text from the first line that starts like code."""
    start = re.search(r"^(import |from \w|class |def |\"\"\"|PARAMS\b)", text, re.MULTILINE)
    if start:
        lines = text[start.start() :].split("\n")
        yield "\n".join(lines)
        for end in range(len(lines) - 1, 0, -1):  # drop prose after the code
            if lines[end - 1].startswith((" ", ")", "]", "}")):
                yield "\n".join(lines[:end])
                return


def _prose(text: str) -> str:
    """What stands outside of fences."""
    outside, position = [], 0
    while opening := _MARKS.search(text, position):
        outside.append(text[position : opening.start()])
        closing = text.find(opening[0], opening.end())
        position = closing + len(opening[0]) if closing >= 0 else len(text)
    outside.append(text[position:])
    return re.sub(r"\n{3,}", "\n\n", "".join(outside)).strip()[:4000]
