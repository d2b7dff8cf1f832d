"""Cutting documentation down to what a policy needs to know."""

from __future__ import annotations

import re

_SENTENCE = re.compile(r"(?<=[.!?])(?<!\b[A-Z]\.)\s+(?=[A-Z(])")
"""Between sentences; an initial, as in "J. Smith", ends none."""

_ASIDE = re.compile(
    r"-v\d\b|\b(?:in|on|for|since) v\d\b|render|visuali[sz]|gymnasium|\bargument section\b|=(?:True|False)\b|set to True|https?:|^Credits|^To play|"
    r"\bBox\(|reward threshold|\.xml\b|\b(?:introduced|refactored|described) (?:in|by|from)\b|first appeared|^Adapted from|^From \"|"
    r"\bbased on (?:the |\w+'s )?(?:\w+ )?(?:work|environment)|\b(?:two|environment) versions\b|`?info`? (?:also )?contains|"
    r"more information can be found|diagram below|can be initialized|id string|(?:computed|kinematics) internally|multivariate|learning algorithms|"
    r"\b(?:classical control|RL algorithms)\b|^The (?:observation|action) shape|^The observation space consists|"
    r"^The (?:observation|action)(?: space)? (?:is|has) .*\b(?:nd)?(?:array|shape|Discrete)\b|^There (?:are|is) \w+ discrete",
    re.IGNORECASE,
)
"""Sentences about the library rather than the task, or about shapes, which spaces tell."""

TRUNCATION = re.compile(
    r"[Tt]runcat|[Ll]ength of the episode|Episode length|duration of an episode|Timeout|time ?limit"
)
"""Sentences on how long an episode may become, which episodes tell."""

_HEAD_OF_NOTHING = re.compile(r"[^.\n]*:$(?!\n\s*[-+|\d])", re.MULTILINE)
"""A sentence before a list that is left out."""

_DEFAULT = re.compile(r"\s*\((?:the )?defaults?\b[^()]*\)", re.IGNORECASE)


def sentences_of(text: str) -> list[str]:
    """The sentences of a text whose lines are wrapped; a list's items and titled blocks are left as they are."""
    joined = [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text)]
    return [sentence for paragraph in joined for sentence in _SENTENCE.split(paragraph) if sentence]


def clean_prose(text: str, limit: int, without: re.Pattern[str] | None = None) -> str:
    """Prose without asides and defaults, cut after a sentence before `limit` characters.

    Args:
        text: Lines, each of whole sentences.
        limit: In characters.
        without: What else tells a sentence that is left out.
    """
    lines = []
    for line in _DEFAULT.sub("", text).splitlines():
        sentences = _SENTENCE.split(line.strip())
        said = " ".join(s for s in sentences if not (_ASIDE.search(s) or (without and without.search(s))))
        lines += [said] if re.search(r"[^\W\d]", said) else []
    said = _HEAD_OF_NOTHING.sub("", "\n".join(lines))
    return cut(re.sub(r"\n+", "\n", said).strip(), limit)


def cut(text: str, limit: int) -> str:
    """A text cut after a sentence, or a word, before `limit` characters."""
    if len(text) <= limit:
        return text
    ends = [m.end() for m in re.finditer(r"[.!?](?=\s|$)|\n", text) if m.end() <= limit]
    return text[: ends[-1]].rstrip() if ends else text[:limit].rsplit(" ", 1)[0] + " ..."
