"""Cutting documentation down to what a policy needs to know."""

from __future__ import annotations

import re

_SENTENCE = re.compile(r"(?<=[.!?])(?<!\b[A-Z]\.)\s+(?=[A-Z(])")
"""Between sentences; an initial, as in "J. Smith", ends none."""

_ASIDE = re.compile(
    r"\bv\d\b|render|visuali[sz]|gymnasium|\bpass(?:ing|ed)\b|\barguments?\b|set to `?True|=True|https?:|\bgif\b|credits|to play|"
    r"\bBox\(|reward threshold|considered a solution|\b(?:introduced|refactored) (?:in|by|from)\b|originates|first appeared|"
    r"\bbased on (?:the |\w+'s )?(?:\w+ )?(?:work|environment)|aims to increase|\bversions\b|as follows|multivariate|"
    r"`?info`? (?:also )?contains|more information|diagram|can be initialized|id string|inverse kinematics|algorithms|Gymnasium environments",
    re.IGNORECASE,
)
"""Sentences about the library rather than the task."""

_TRUNCATION = re.compile(
    r"[Tt]runcat|[Ll]ength of the episode|Episode length|duration of an episode|Timeout|time ?limit"
)

_SHAPE = re.compile(
    r"^(?:The (?:observation|action) (?:is|space|shape)|An action|There (?:are|is) \w+ discrete)"
)
"""Sentences that say in words what the fields say anyway."""


_LISTED = re.compile(r"\s*- (?:[\w()]+ \(\d+ element|\w+: (?:its value|this key))")
"""List items that name parts of an observation: the fields name them better."""

_CHOICE = re.compile(r"- (?:sparse|dense):")
"""What a reward may be; its code says what it is."""

_AIM = re.compile(r"\b(?:goal|aim|objective|task|purpose)\b[^.]{0,40}\bis\b|\b(?:must|has to|needs? to)\b")
"""A sentence that says what is to be done."""


def trimmed(text: str, limit: int) -> str:
    """Prose without asides, cut at a sentence before `limit` characters."""
    kept = [_kept(line) for line in text.splitlines() if not _CHOICE.match(line)]
    lines = [line for line in kept if line.strip()]
    pairs = zip(lines, [*lines[1:], ""], strict=False)
    return cut("\n".join(line for line, after in pairs if not _announces_nothing(line, after)), limit)


def _announces_nothing(line: str, after: str) -> bool:
    """Whether a line ends with a colon after which the announced table or code is not shown."""
    return line.rstrip().endswith(":") and not re.match(r"\s*(?:[-+|]|\d+\.)", after)


def _kept(line: str) -> str:
    if re.match(r"^[+|]", line.strip()):
        return line
    indent = line[: len(line) - len(line.lstrip())]
    kept = " ".join(s for s in _SENTENCE.split(line.strip()) if not _ASIDE.search(s))
    return "" if re.fullmatch(r"\W*(?:where|Note|[\d.]+)?\W*", kept) else indent + kept


def sentences_of(text: str) -> list[str]:
    """The sentences of a text whose lines are wrapped; a list's items and titled blocks are left as they are."""
    joined = [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text)]
    return [sentence for paragraph in joined for sentence in _SENTENCE.split(paragraph) if sentence]


def cut(text: str, limit: int) -> str:
    """A text cut after a sentence, or a word, before `limit` characters."""
    if len(text) <= limit:
        return text
    ends = [m.end() for m in re.finditer(r"[.!?](?=\s|$)|\n", text) if m.end() <= limit]
    return text[: ends[-1]].rstrip() if ends else text[:limit].rsplit(" ", 1)[0] + " ..."


def cut_to_aim(text: str, limit: int) -> str:
    """A description cut before `limit` characters, with the sentence that says what is to be done.

    That sentence often comes last, after the history and the body parts, which a policy needs less.
    """
    kept = cut(text, limit)
    if _AIM.search(kept):
        return kept
    aim = next((s for s in _SENTENCE.split(text.replace("\n", " ")) if _AIM.search(s)), "")
    if not aim or len(aim) >= limit:
        return kept
    before = cut(text, limit - len(aim) - 1)
    return aim if before.endswith("...") else f"{before} {aim}"


def note(text: str, limit: int, *, choices: bool = False) -> str:
    """What a section says beyond its table: no lists of values, no restated shapes."""
    kept = [
        " ".join(s for s in _SENTENCE.split(line) if not _SHAPE.search(s.strip()))
        for line in text.splitlines()
        if not (_LISTED.match(line) or (choices and re.match(r"\s*- \d+\s*[:=]", line)))
    ]
    return trimmed("\n".join(kept), limit)


def ending(text: str, limit: int) -> str:
    """When an episode ends, without what the time limit does."""
    text = re.sub(r"\s*\([^()]*(?:\barguments?\b|the default\b|=True)[^()]*\)| argument\b", "", text)
    lines = [
        " ".join(s for s in _SENTENCE.split(line) if not _TRUNCATION.search(s)) for line in text.splitlines()
    ]
    lines = [line for line in lines if line.strip() and not re.fullmatch(r"\s*(?:\d+\.|-)", line)]
    kept = trimmed("\n".join(lines), 10 * limit)
    kept = re.sub(r"(?m)^\s*\d+\.\s*|^ +- ", "- ", kept)
    return cut(re.sub(r"Termination: ?\n?", "", kept).strip(), limit)


def without_defaults(text: str) -> str:
    """Prose beside code: the code has the real constants."""
    return re.sub(r"\s*\((?:the )?default(?: is)?[^)]*\)", "", text)
