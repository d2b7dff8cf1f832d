"""From the raw answer of a language model to one policy module.

Nothing here runs an answer; `ast` only reads it.
"""

from __future__ import annotations

import re
import textwrap

from promptpo.program.confined.tree import MAX_SOURCE_BYTES, bound_here, parse
from promptpo_sandbox.text import clean_answer

_BLOCK = re.compile(
    r"^[ \t]*(?P<mark>`{3,}|~{3,})[ \t]*(?P<language>[\w+.-]*)[^\n]*\n?(?P<code>.*?)(?P<end>^[ \t]*(?P=mark)[`~]*[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
"""A fenced block, to the end where it is not closed."""

_BARE = re.compile(
    r"^(?:import |from \w|class |def |\"\"\"|PARAMS\b).*^[ \t)\]}][^\n]*$", re.MULTILINE | re.DOTALL
)
"""What may be code in an answer without a fence: from the first line that begins like code to the last one that ends like it."""

_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.IGNORECASE | re.DOTALL)
"""From one that is never closed on, nothing is an answer."""

MOST_PROSE = 4000
"""Characters of what is said beside code."""

_EXPERIMENT = re.compile(r"^class Probe\b", re.MULTILINE)


def extract(text: str, class_name: str, cut: bool) -> tuple[str, str | None, str]:
    """Source, problem and prose of the module that defines `class_name` in an answer.

    Copes with several fences, none, prose around them, thinking blocks and Windows line ends. When several blocks
    qualify the last one wins: models put their final version last; but an experiment that has a policy inside only
    where nothing else has one. Takes time in proportion to the text's length.
    """
    text = _THINKING.sub("", clean_answer(text))
    if not text.strip():
        return "", "cut" if cut else "empty", ""
    blocks = _fenced(text)
    codes = [_code(block) for block, _ in blocks] or [
        _code(text),
        *(_code(one[0]) for one in _BARE.finditer(text)),
    ]
    prose = re.sub(r"\n{3,}", "\n\n", _BLOCK.sub("", text)).strip()[:MOST_PROSE]
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
    text = _THINKING.sub("", clean_answer(text))
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


def _fenced(text: str) -> list[tuple[str, bool]]:
    """(code, whether its fence was closed) of every Python or unlabelled fence."""
    languages = ("", "python", "py", "python3")
    found = _BLOCK.finditer(text)
    return [(one["code"], bool(one["end"])) for one in found if one["language"].lower() in languages]
