"""Detection of modules that define a class, anywhere in a text."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from promptpo.program.confined.markup import FENCE, FENCE_AT_LINE_START, TAG, Span, is_reasoning
from promptpo.program.confined.tree import MAX_SOURCE_BYTES, bound_here, parse
from promptpo.program.confined.variants import plainest, variants

_KEYWORD = (
    r"import\s+\w|from\s+[\w.]+\s+import\s|class\s+\w|(?:async\s+)?def\s+\w|@\w|[rRuUbBfF]{0,2}(?:\"\"\"|''')"
)
_ASSIGNMENT = r"[A-Za-z_]\w*[ \t]*(?::[^=\n]{1,80})?=(?!=)"
LINE_START = rf"[ \t]*(?:{_KEYWORD}|{_ASSIGNMENT}|(?:try|else)[ \t]*:|(?:if|for|while|with)\s[^\n]*:[ \t]*$)"
"""Beginning of a line of top-level code, as a regular expression."""

_NO_PROSE = re.compile(rf"{_KEYWORD}|{_ASSIGNMENT}")
_HEAD_IN_LINE = re.compile(rf"[ \t]*(?:{_KEYWORD})")
_STARTS = re.compile(rf"(?P<mark>{FENCE.pattern})|(?:^|(?<=[>▷\]])|(?<=final))(?={LINE_START})", re.MULTILINE)
"""Where code may begin: after a fence's mark, at a line start or after a tag."""

_LABEL = re.compile(r"[ \t]*\{?\.?[\w+.:#-]*\}?")

MOST_ENDS = 12
"""Maximum number of fences tried as the end of a block, since docstrings may contain some."""

MOST_TRIMS = 12
"""Maximum number of lines at which prose after a program is cut off."""

PROBED_BYTES = 20_000
"""Size of the beginning that is tried if the whole text is too long."""

PARSED_BYTES = 1_500_000
"""Limit on the total size of all readings of an answer."""


class ModuleText(NamedTuple):
    """A module in a text: start and end offsets, and its code."""

    start: int
    end: int
    code: str


class Scanner:
    """Finds modules in one pass over a text.

    Args:
        text: Cleaned text.
        class_name: The requested class.

    Attributes:
        other_code: Spans of fenced code that parses but does not define the class.
    """

    def __init__(self, text: str, class_name: str) -> None:
        self._text, self._name = text, class_name
        self.other_code: list[Span] = []
        self._anchors = [found.start() for found in re.finditer(_anchor(class_name), text, re.MULTILINE)]
        self._closing = [(found.start(1), found[1][0]) for found in FENCE_AT_LINE_START.finditer(text)]
        self._budget = PARSED_BYTES
        self._broken_at = 0

    def modules(self) -> list[ModuleText]:
        """Return all modules in the order of the text; none lies inside another."""
        found: list[ModuleText] = []
        done = 0
        if not self._anchors:
            return found
        for start in _STARTS.finditer(self._text):
            if start.start() < done:
                continue
            if (far := self._too_far(start.end())) >= 0:
                done = far + 1
                continue
            self._broken_at = 0
            module = self._behind(start["mark"], start.end()) if start["mark"] else self._bare(start.end())
            if module is not None:
                found.append(module)
                done = module.end
            elif start["mark"]:
                done = self._skip_code(start["mark"], start.end())
            done = max(done, self._broken_at)
        return found

    def _anchor_behind(self, start: int) -> int:
        """Return where the class begins after an offset; -1 if there is none near enough."""
        at = bisect_left(self._anchors, start)
        near = at < len(self._anchors) and self._anchors[at] <= start + MAX_SOURCE_BYTES
        return self._anchors[at] if near and self._budget > 0 else -1

    def _too_far(self, start: int) -> int:
        """Return where the class begins in a module too long to read; -1 if there is no such module."""
        at = bisect_left(self._anchors, start)
        if at == len(self._anchors) or self._anchors[at] <= start + MAX_SOURCE_BYTES:
            return -1
        first = self._line_end(start) + 1
        code = self._text[first : self._text.rfind("\n", first, first + PROBED_BYTES)]
        self._budget -= len(code)
        tree = parse(code) if self._budget > 0 else None
        return self._anchors[at] if tree is not None and tree.body else -1

    def _parse(self, code: str) -> str:
        """Return the first reading of a text that defines the class; empty if there is none."""
        for variant in variants(code):
            self._budget -= len(variant) + 200
            if self._budget < 0:
                break
            if defines(variant, self._name):
                return variant
        return ""

    # After a fence's mark

    def _behind(self, mark: str, start: int) -> ModuleText | None:
        """Return the module in a block that begins with a mark, up to the first end with which it parses."""
        line_end = self._line_end(start)
        info = self._text[start:line_end]
        label = _LABEL.match(info)
        behind_label = label.end() if label else 0
        if is_reasoning(info[:behind_label]):
            return None
        if _HEAD_IN_LINE.match(info):
            first = start + len(info) - len(info.lstrip())
        elif _HEAD_IN_LINE.match(info[behind_label:]):
            first = start + len(info) - len(info[behind_label:].lstrip())
        elif FENCE.search(info) or TAG.search(info):
            return None  # it ends a block, and something else begins on the same line
        else:
            first = min(line_end + 1, len(self._text))
        anchor = self._anchor_behind(first)
        if anchor < 0:
            return None
        for end in self._ends(mark, anchor):
            column = start - len(mark) - (self._text.rfind("\n", 0, start) + 1)
            code = self._text[first:end]
            source = self._parse(code) or (self._parse(_outdent(code, column)) if column else "")
            if source:
                return ModuleText(first, end, _without_trailing_words(source, self._name))
        return self._bare(first)

    def _ends(self, mark: str, anchor: int) -> Iterator[int]:
        """Yield where a block may end: at marks that begin a line, then at others outside comments."""
        at = bisect_left(self._closing, (anchor, ""))
        same = [end for end, kind in self._closing[at : at + MOST_ENDS] if kind == mark[0]]
        for end in same:
            yield self._text.rfind("\n", 0, end) + 1
        limit = min(len(self._text), anchor + MAX_SOURCE_BYTES)
        for n, close in enumerate(
            re.compile(re.escape(mark[0]) + "{3,}").finditer(self._text, anchor, limit)
        ):
            if n >= MOST_ENDS:
                break
            line = self._text.rfind("\n", 0, close.start()) + 1
            if not _comment_in(self._text[line : close.start()]):
                yield close.start()

    def _skip_code(self, mark: str, start: int) -> int:
        """Return the end of a block of other code with tags inside, which count as text; otherwise its beginning."""
        at = bisect_left(self._closing, (start, ""))
        end = next((end for end, kind in self._closing[at : at + MOST_ENDS] if kind == mark[0]), -1)
        first = self._line_end(start) + 1
        info = self._text[start : first - 1]
        if not info.strip() or FENCE.search(info) or TAG.search(info):
            return start  # it ends a block
        if end <= first or end - first > MAX_SOURCE_BYTES or not TAG.search(self._text, first, end):
            return start
        code = next(variants(self._text[first : self._text.rfind("\n", 0, end) + 1]), "")
        self._budget -= len(code)
        if self._budget < 0 or parse(code) is None:
            return start
        self.other_code.append((first, end))
        return end

    def _line_end(self, start: int) -> int:
        end = self._text.find("\n", start)
        return len(self._text) if end < 0 else end

    # Without a fence

    def _bare(self, start: int) -> ModuleText | None:
        """Return the module that begins at an offset, without the prose after it."""
        anchor = self._anchor_behind(start)
        if anchor < 0:
            return None
        end = limit = min(len(self._text), start + MAX_SOURCE_BYTES)
        for _ in range(MOST_TRIMS):
            code = self._text[start:end]
            source = self._parse(code)
            if source and (end < limit or limit == len(self._text)):
                if _ends_program(self._text[end:limit]):
                    return ModuleText(start, end, _without_trailing_words(source, self._name))
                break
            shorter = start + _stops(code)
            if shorter <= anchor:
                return None
            end = shorter
        self._broken_at = max(self._broken_at, end)  # a program up to there, so no module begins inside
        return None


def defines(code: str, class_name: str) -> bool:
    """Whether a text is a module that defines the class, rather than importing it, with no prose before it."""
    tree = parse(code) if class_name in code else None
    if tree is None or class_name not in bound_here(tree.body):
        return False
    if ast.get_docstring(tree, clean=False) is None and _does_nothing(tree.body[0]):
        return False
    return any(
        (isinstance(node, ast.ClassDef) and node.name == class_name)
        or (isinstance(node, ast.Name) and node.id == class_name and isinstance(node.ctx, ast.Store))
        for node in ast.walk(tree)
    )


def _anchor(class_name: str) -> str:
    return rf"\bclass[ \t\u00a0\u3000]+{class_name}\b|^[ \t>]*{class_name}[ \t]*[:=]"


def _comment_in(line: str) -> bool:
    """Whether a line of code ends in a comment."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(line.strip()).readline))
    except (tokenize.TokenError, SyntaxError):
        return False
    return any(token.type == tokenize.COMMENT for token in tokens)


def _outdent(code: str, columns: int) -> str:
    """Remove up to that many leading spaces from each line."""
    return re.sub(rf"^ {{1,{min(columns, 80)}}}", "", code, flags=re.MULTILINE)


def _stops(code: str) -> int:
    """Return the offset of the line, or of the tag or fence in it, at which a text stops being Python; 0 if unknown."""
    lines = code.splitlines(keepends=True)
    number = _error_line(plainest(code))
    if not 0 < number <= len(lines):
        return 0
    line = lines[number - 1]
    before = sum(map(len, lines[: number - 1]))
    mark = TAG.search(line) or FENCE.search(line)
    return before + mark.start() if mark and line[: mark.start()].strip() else before


def _ends_program(rest: str) -> bool:
    """Whether a program ends before this text: nothing, a mark, or prose at the left margin."""
    line = rest.lstrip("\n").partition("\n")[0]
    if not line or TAG.match(line.lstrip()) or FENCE.match(line.lstrip()):
        return True
    return not line[0].isspace() and not _NO_PROSE.match(line)


def _error_line(code: str) -> int:
    """Return the line, from 1, at which a text stops being Python; 0 if it parses or the line is unknown."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(code)
    except SyntaxError as error:
        return error.lineno or 0
    except (ValueError, RecursionError, MemoryError):
        pass
    return 0


def _without_trailing_words(code: str, class_name: str) -> str:
    """Remove trailing words that are Python by chance and do nothing, such as `Done` and `...`."""
    tree = parse(code)
    body = list(tree.body) if tree is not None else []
    ends = len(body)
    while body and _does_nothing(body[-1]):
        body.pop()
    if not body or len(body) == ends:
        return code
    shorter = "".join(code.splitlines(keepends=True)[: body[-1].end_lineno]).rstrip()
    return shorter if defines(shorter, class_name) else code


def _does_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.AnnAssign):
        return statement.value is None
    acting = (ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
    return isinstance(statement, ast.Expr) and not any(isinstance(n, acting) for n in ast.walk(statement))
