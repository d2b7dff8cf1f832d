"""Markup of chat models in answers: reasoning in tags and channels, and fences.

Positions are offsets into the text of an answer. Marks inside programs are text, and the caller says where programs are.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

Span = tuple[int, int]

FENCE = re.compile(r"`{3,}|~{3,}")
FENCE_AT_LINE_START = re.compile(r"^[ \t>]*(`{3,}|~{3,})", re.MULTILINE)
BLOCK = re.compile(
    r"^[ \t]*(?P<mark>`{3,}|~{3,})[ \t]*(?P<label>[\w+.-]*)[^\n]*\n?(?P<code>.*?)(?:^[ \t]*(?P=mark)[`~]*[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
"""A fenced Markdown block; up to the end of the text if it is not closed."""

_NAME = r"[^\W\d][\w:.▁-]{0,60}"
_ATTRIBUTE = r"[ \t]{1,8}[\w:-]{1,40}[ \t]?=[ \t]?(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|[\w.-]{1,80})"
TAG = re.compile(
    r"(?<!(?<!`)`)(?:"  # not quoted in prose
    r"(?P<channel><\|channel\|?>)\s{0,3}(?P<topic>\w{0,40})"
    rf"|<[|｜]?(?P<aclosing>/?)(?P<aname>{_NAME})(?P<attributes>(?:{_ATTRIBUTE}){{0,8}})[ \t]{{0,8}}[|｜]?>"  # noqa: RUF001 - DeepSeek's
    rf"|\[(?P<bclosing>/?)(?P<bname>{_NAME})\]"
    rf"|◁(?P<cclosing>/?)(?P<cname>{_NAME})▷"
    r"|(?P<stripped>assistantfinal(?=[A-Z\W]|\Z|import |from |class )))"
)

_REASONING = re.compile(
    r"think|thought|reason|reflect|scratch|analy[sz]|monolog|ruminat|deliberat|brainstorm|ponder|contemplat|musing"
    r"|\bcot\b|chain.of|draft|internal|inner|commentary|meditat|\bplan(?:ning)?\b|critique|comment\b",
    re.IGNORECASE,
)
"""Name of a tag, channel, key or fence whose content is not the answer."""

_ANSWER = re.compile(
    r"answer|final|code|solution|output|response|result|python|policy|program|file|artifact|submission|message|assistant"
    r"|pre\b|body\b|html\b",
    re.IGNORECASE,
)
"""Name of a tag whose content may be the answer."""

_TURN_ENDS = frozenset({"end", "return", "call", "start", "channel"})
"""Marks of the harmony format that end a channel."""


def is_reasoning(name: str) -> bool:
    """Whether a tag, channel, key or fence with this name holds reasoning."""
    return _REASONING.search(name) is not None


class _Mark(NamedTuple):
    start: int
    end: int
    name: str
    closing: bool
    reasoning: bool


def _marks(text: str) -> Iterator[_Mark]:
    for tag in TAG.finditer(text):
        if tag["channel"]:
            final = not is_reasoning(tag["topic"])
            yield _Mark(tag.start(), tag.end(), "channel", closing=final, reasoning=True)
        elif tag["stripped"]:
            yield _Mark(tag.start(), tag.end(), "channel", closing=True, reasoning=True)
        else:
            name = (tag["aname"] or tag["bname"] or tag["cname"]).casefold()
            closing = bool(tag["aclosing"] or tag["bclosing"] or tag["cclosing"])
            if begins := re.match(r"(?:begin|start|(end))_(?:of_)?(?=\w)", name):
                name, closing = name[begins.end() :], closing or bool(begins[1])
            if tag["bname"] and not closing and not tag["bname"].isupper():
                continue  # `x[draft]`
            if tag["aname"] and name in _TURN_ENDS:
                if "|" in tag[0]:
                    yield _Mark(tag.start(), tag.end(), "channel", closing=True, reasoning=False)
                continue
            reasoning = is_reasoning(name) or is_reasoning(tag["attributes"] or "")
            yield _Mark(tag.start(), tag.end(), name, closing, reasoning)


def reasoning_and_asides(text: str, programs: Sequence[Span]) -> tuple[list[Span], list[Span]]:
    """Return spans of reasoning, and of tag pairs with another meaning.

    Reasoning extends from its opening tag to its closing tag, to the end of the text if it is not closed, and from the beginning
    if it was not opened.

    Args:
        text: An answer.
        programs: Spans of programs in order, in which marks are text.
    """
    starts = [start for start, _ in programs]
    pairs = _Pairs()
    for mark in _marks(text):
        at = bisect_right(starts, mark.start) - 1
        if at < 0 or mark.start >= programs[at][1]:
            pairs.add(mark)
    return merge([*pairs.reasoning, *pairs.find_unclosed(len(text))]), merge(pairs.asides)


class _Pairs:
    """Pairs marks as they arrive.

    Attributes:
        reasoning: Spans of reasoning pairs, and of text before closing marks without an opening one.
        asides: Spans of other pairs, except those around an answer.
    """

    def __init__(self) -> None:
        self._opened: dict[str, list[_Mark]] = defaultdict(list)
        self._ends: dict[str, list[int]] = defaultdict(list)
        self._depth = 0  # of reasoning
        self.reasoning: list[Span] = []
        self.asides: list[Span] = []

    def add(self, mark: _Mark) -> None:
        opened = self._opened[mark.name]
        if not mark.closing:
            if mark.name != "channel" or not opened:  # one channel follows another
                opened.append(mark)
                self._depth += mark.reasoning
            return
        self._ends[mark.name].append(mark.end)
        if opened:
            first = opened.pop()
            self._depth -= first.reasoning
            if first.reasoning:
                self.reasoning.append((first.start, mark.end))
            elif not _ANSWER.search(mark.name):
                self.asides.append((first.start, mark.end))
        elif mark.reasoning and not self._depth:
            self.reasoning.append((0, mark.end))

    def find_unclosed(self, length: int) -> Iterator[Span]:
        """Yield spans of reasoning opened more often than closed: up to the next mark that closes it, or to the end."""
        for name, marks in self._opened.items():
            ends = self._ends[name]
            for mark in marks:
                at = bisect_left(ends, mark.end)
                if mark.reasoning:
                    yield mark.start, ends[at] if at < len(ends) else length


def merge(spans: Sequence[Span]) -> list[Span]:
    """Merge spans that overlap or touch; returns them in order."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def without(text: str, spans: Sequence[Span]) -> str:
    """Return the text without some spans."""
    kept, at = [], 0
    for start, end in merge(spans):
        kept.append(text[at:start])
        at = end
    return "".join([*kept, text[at:]])


def inside(start: int, spans: Sequence[Span]) -> bool:
    """Whether an offset lies in one of some sorted, non-overlapping spans."""
    at = bisect_right(spans, (start, 1 << 60)) - 1
    return at >= 0 and start < spans[at][1]
