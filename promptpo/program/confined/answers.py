"""Extraction of one policy module from a raw answer of a language model.

No answer is run; `ast` only parses it. Several stretches of an answer are tried as code, in order; one that parses and
defines the class is a module, and marks inside it belong to it. The last module outside reasoning wins.
"""

from __future__ import annotations

import ast
import builtins
import json
import re
from typing import Any

from promptpo.program.confined.markup import (
    BLOCK,
    inside,
    is_reasoning,
    merge,
    reasoning_and_asides,
    without,
)
from promptpo.program.confined.modules import LINE_START, ModuleText, Scanner
from promptpo.program.confined.tree import MAX_SOURCE_BYTES, bound_by, bound_here, parse
from promptpo.program.confined.variants import unescape_json, variants
from promptpo_sandbox.text import clean_answer

_BARE = re.compile(rf"^(?={LINE_START}).*^[ \t)\]}}][^\n]*$", re.MULTILINE | re.DOTALL)
"""Possible code in an unfenced answer: from the first line that begins like code to the last one that ends like it."""

_LEFT_OF_BLOCKS = re.compile(r"(?:`{3,}|~{3,})[\w.+-]*\s*(?:`{3,}|~{3,})")

_JSON = json.JSONDecoder(strict=False)
_JSON_VALUE = re.compile(r"(?:^|[>\]▷`~:]|(?<=final))\s{0,80}(?=[{\[]\s{0,80}[\"{\[])", re.MULTILINE)
_JSON_KEY = re.compile(r'"\s{0,9}:\s{0,9}"')
MOST_JSON_VALUES = 40
"""Maximum number of JSON values tried in an answer."""

MOST_PROSE = 4000
"""Maximum length of the prose around code, in characters."""

_EXPERIMENT = re.compile(r"^class Probe\b", re.MULTILINE)


class _Read:
    """A parsed answer.

    Args:
        text: Cleaned text.
        class_name: The requested class.
    """

    def __init__(self, text: str, class_name: str) -> None:
        self.class_name = class_name
        self._take_apart(_with_json_code(text, class_name))
        if not self.modules and "\\n" in text and class_name in text and not _JSON_KEY.search(text):
            plain = unescape_json(text)
            self._take_apart(plain)
            if not self.modules:
                self._take_apart(text)

    def _take_apart(self, text: str) -> None:
        scanner = Scanner(text, self.class_name)
        found = scanner.modules()
        self.text = text
        programs = merge([*scanner.other_code, *((module.start, module.end) for module in found)])
        self.reasoning, self._asides = reasoning_and_asides(text, programs)
        self.modules = [module for module in found if not inside(module.start, self.reasoning)]
        self.visible = without(text, self.reasoning)
        taken = [*self.reasoning, *((module.start, module.end) for module in self.modules)]
        rest = BLOCK.sub("", _LEFT_OF_BLOCKS.sub("", without(text, taken)))
        self.prose = re.sub(r"\n{3,}", "\n\n", rest).strip()[:MOST_PROSE]

    def best(self) -> ModuleText | None:
        """Return the module that is the answer.

        Experiments with a policy inside, and modules inside other tags, count only if there is nothing else.
        """

        def place(module: ModuleText) -> tuple[bool, bool, int]:
            experiment = self.class_name == "Policy" and bool(_EXPERIMENT.search(module.code))
            return not inside(module.start, self._asides), not experiment, module.start

        return max(self.modules, key=place, default=None)

    def find_broken(self) -> list[tuple[int, str]]:
        """Find code meant to define the class that does not parse or is too long, with its offset."""
        spans = [(module.start, module.end) for module in self.modules]
        named = f"class {self.class_name}"
        blocks = [
            (block.start("code"), block["code"])
            for block in BLOCK.finditer(self.text)
            if named in block["code"]
            and not inside(block.start("code"), self.reasoning)
            and not any(start < block.end("code") and block.start("code") < end for start, end in spans)
        ]
        if not blocks and not spans and (bare := _BARE.search(self.visible)) and named in bare[0]:
            blocks = [(len(self.text) - len(self.visible) + bare.start(), bare[0])]
        codes = ((at, next(variants(code), "")) for at, code in blocks)
        return [
            (at, code)
            for at, code in codes
            if (len(code) > MAX_SOURCE_BYTES or parse(code) is None)
            and not (self.class_name == "Policy" and _EXPERIMENT.search(code))
        ]

    def with_missing(self, module: ModuleText) -> str:
        """Return a module's code together with code of other fences that defines names it lacks."""
        lacks = _lacks(module.code)
        parts = [(module.start, module.code)]
        for block in BLOCK.finditer(self.text) if lacks else ():
            start, code = block.start("code"), next(variants(block["code"]), "")
            tree = None if inside(start, self.reasoning) or self.class_name in code else parse(code)
            if tree is not None and lacks & set(bound_here(tree.body)):
                parts.append((start, code))
        return "\n\n".join(code for _, code in sorted(parts))


def cut_out_program(text: str, class_name: str, cut: bool) -> tuple[str, str | None, str]:
    """Return source, problem and prose of the module in an answer that defines `class_name`.

    Runs in time linear in the text's length. A module that does not parse is kept, for repair.

    Args:
        text: The raw answer.
        class_name: The requested class.
        cut: Whether the answer hit its token limit, so that code at its end may be incomplete.
    """
    read = _Read(clean_answer(text), class_name)
    if not read.visible.strip():
        return "", "cut" if cut else "empty", ""
    best, broken = read.best(), read.find_broken()
    if cut and (
        (broken and (best is None or broken[-1][0] > best.start))
        or (best is not None and best.end >= len(read.text.rstrip()))
    ):
        return "", "cut", read.prose
    if best is not None:
        return read.with_missing(best) + "\n", None, read.prose
    short = [code for _, code in broken if len(code.encode("utf-8", "surrogatepass")) <= MAX_SOURCE_BYTES]
    if short:
        return short[-1] + "\n", None, read.prose
    return "", "cut" if cut else "too_long" if broken else "no_code", read.prose


def every(text: str, class_name: str) -> tuple[str, ...]:
    """Return all modules of an answer that define a class, or are meant to, in order."""
    read = _Read(clean_answer(text), class_name)
    broken = [(at, code) for at, code in read.find_broken() if len(code) <= MAX_SOURCE_BYTES]
    codes = sorted([*((module.start, module.code) for module in read.modules), *broken])
    return tuple(dict.fromkeys(f"{code}\n" for _, code in codes))


def _lacks(code: str) -> set[str]:
    """Return names that a module reads but never binds."""
    tree = parse(code)
    nodes = [] if tree is None else [*ast.walk(tree)]
    read = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    bound = {name for node in nodes for name in bound_by(node)} | {
        n.arg for n in nodes if isinstance(n, ast.arg)
    }
    return read - bound - {*dir(builtins), "__name__", "__file__"}


def _with_json_code(text: str, class_name: str) -> str:
    """Replace JSON values that contain code under some key with that code."""
    parts, done = [], 0
    for n, start in enumerate(_JSON_VALUE.finditer(text) if class_name in text else ()):
        if n >= MOST_JSON_VALUES:
            break
        if start.end() < done:
            continue
        try:
            value, end = _JSON.raw_decode(text, start.end())
        except (ValueError, RecursionError):
            continue
        texts = [
            text
            for text in _texts(value)
            if f"class {class_name}" in text and Scanner(text, class_name).modules()
        ]
        if texts:
            parts += [text[done : start.end()], f"\n{texts[-1]}\n"]
            done = end
    return "".join([*parts, text[done:]])


def _texts(value: Any) -> list[str]:
    """Return all strings in a JSON value, in order, except those under a name for reasoning."""
    if isinstance(value, str):
        return [clean_answer(value)]
    if isinstance(value, dict):
        return [text for key, item in value.items() if not is_reasoning(key) for text in _texts(item)]
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else []
