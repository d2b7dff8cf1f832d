"""Cutting documentation down to what a policy needs to know."""

from __future__ import annotations

import re

_SENTENCE = re.compile(r"(?<=[.!?])(?<!\b[A-Z]\.)\s+(?=[A-Z(])")
"""Between sentences; an initial, as in "J. Smith", ends none."""

_ASIDE = re.compile(
    r"\bv\d\b|render|visuali[sz]|gymnasium\.make|\bpass(?:ing|ed)\b|[Aa]rguments?\b|action_mask|`?info`? (?:also )?contains|"
    r"reset\(\)|id string|can be initialized|https?:|[Cc]redits|no longer maintained|"
    r"\b(?:introduced|refactored) (?:in|by|from)\b|originates from|first appeared|based on (?:the )?\w*(?:'s)? ?work|"
    r"\w+_\w+=(?:True|False)|reward threshold|considered a solution|as follows|consists of a dictionary|diagram|More information|"
    r"aims to increase|\bBox\(|multivariate|set to `?True|In this case, the observation|Regardless of|[Gg]if\b|nbody|inverse kinematics|versions of|algorithms|based on the one|with a dictionary",
)
"""Sentences about the library rather than the task."""

_TRUNCATION = re.compile(
    r"[Tt]runcat|[Ll]ength of the episode|Episode length|duration of an episode|Timeout|time ?limit"
)

_SHAPE = re.compile(
    r"^(?:The observation (?:is|space)|By default, however|The action (?:is a `?ndarray|space is a)|An action|"
    r"The action shape|The agent take|There (?:are|is) \d+ discrete|There are (?:two|three|four|five|six) discrete|"
    r"If (?:continuous|discrete) there are|The elements)"
)
"""Sentences that say in words what the fields say anyway."""


_AIM = re.compile(r"\b(?:goal|aim|objective|task|purpose)\b[^.]{0,40}\bis\b|\b(?:must|has to|needs? to)\b")
"""A sentence that says what is to be done."""

_LISTED = re.compile(r"- (?:\w+: (?:its value|this key)|[\w()]+ \(\d+ element)")
"""List items that name parts of an observation: the fields name them better."""


def trimmed(text: str, limit: int) -> str:
    """Prose without asides, cut at a sentence before `limit` characters."""
    lines = [_kept(line) for line in text.splitlines() if not re.match(r"- (?:sparse|dense):", line)]
    lines = [line for line in lines if line.strip()]
    lines = [
        line
        for line, after in zip(lines, [*lines[1:], ""], strict=False)
        if not _announces_nothing(line, after)
    ]
    return cut("\n".join(line for line in lines if line.strip()), limit)


def _announces_nothing(line: str, after: str) -> bool:
    """Whether a line ends with a colon after which the announced table or code is not shown."""
    return line.rstrip().endswith(":") and not re.match(r"\s*(?:[-+|]|\d+\.)", after)


def _kept(line: str) -> str:
    if re.match(r"^[+|]", line.strip()):
        return line
    indent = line[: len(line) - len(line.lstrip())]
    sentences = [s for s in _SENTENCE.split(line.strip()) if not _ASIDE.search(s)]
    kept = " ".join(sentences)
    kept = kept.replace("the ranges above", "the ranges below")
    return "" if re.fullmatch(r"(?:[-\d.]+|Note:|where|By default,?)?", kept) else indent + kept


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
    kept = []
    for line in text.splitlines():
        if (choices and re.match(r"\s*- \d+\s*[:=]", line)) or _LISTED.match(line):
            continue
        sentences = [s for s in _SENTENCE.split(line) if not _SHAPE.search(s.strip())]
        kept.append(" ".join(sentences))
    result = trimmed("\n".join(kept), limit)
    return "" if result.strip().endswith(":") and "\n" not in result else result


def ending(text: str, limit: int) -> str:
    """When an episode ends, without what the time limit does."""
    text = re.sub(r"\s*\([^()]*exclude_current[^()]*\)", "", text)
    text = re.sub(r" argument\b", "", re.sub(r"\s*\((?:which is )?the default\)", "", text))
    lines = [
        " ".join(s for s in _SENTENCE.split(line) if not _TRUNCATION.search(s)) for line in text.splitlines()
    ]
    lines = [line for line in lines if line.strip() and not re.fullmatch(r"\s*(?:\d+\.|-)", line)]
    kept = trimmed("\n".join(lines), 10 * limit)
    kept = re.sub(r"(?m)^(\s*)\d+\.\s*(?:Termination: ?)?", r"\1- ", kept)
    kept = re.sub(r"(?m)^- Termination:?\s*\n", "", kept)
    kept = re.sub(r"(?m)^ +- ", "- ", kept)
    kept = re.sub(r"Termination: ?", "", kept)
    if re.fullmatch(r"The episode (?:ends|will terminate)[^\n]*:?", kept.strip()) and kept.strip().endswith(
        ":"
    ):
        return ""
    return cut(kept.strip(), limit)


def without_defaults(text: str) -> str:
    """Prose beside code: the code has the real constants."""
    return re.sub(r"\s*\((?:the )?default(?: is)?[^)]*\)", "", text)
