"""From the raw answer of a language model to one policy module.

Nothing here runs an answer; `ast` only reads it.
"""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Iterator

from promptpo.program.confined.tree import MAX_SOURCE_BYTES, parse
from promptpo_sandbox.text import clean_answer

BESIDE = frozenset({"Feedback", "Probe"})
"""What an answer may bring beside the class asked for; such a module does not stand in for it because of its methods."""

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+.-]*)[^\n]*$", re.MULTILINE)
_THINK = re.compile(r"<(/?)(think|thinking|reasoning)>", re.IGNORECASE)


_EXPERIMENT = re.compile(r"^class Probe\b", re.MULTILINE)


def extract(text: str, class_name: str, method: str, cut: bool) -> tuple[str, str | None, str]:
    """Source, problem and prose of the module that defines `class_name` in an answer.

    Copes with several fences, none, prose around them, thinking blocks, Windows line ends, a class of
    another name, a bare function, and code wrapped in JSON. When several blocks qualify the last one
    wins: models put their final version last; but an experiment that has a policy inside only where nothing
    else has one. Takes time in proportion to the text's length.
    """
    text = _without_thinking(clean_answer(text))
    if not text.strip():
        return "", "cut" if cut else "empty", ""
    blocks, candidates = _blocks(text)
    if not blocks:
        candidates.append(text)
        candidates.extend(_tail_of_prose(text))
    prose = _prose(text)
    best: tuple[int, bool, str] | None = None
    for block in candidates:
        code = _code(block)
        if _too_long(code):
            if not blocks or len(blocks) == 1:
                return "", "too_long", prose
            continue
        rank, source = _as_module(code, class_name, method)
        own = not (class_name == "Policy" and _EXPERIMENT.search(source))
        if rank and (best is None or (rank, own) >= best[:2]):
            best = (rank, own, source)
    if best is None:
        unfinished = cut or any(not is_closed for _, is_closed in blocks)
        return "", "cut" if unfinished else "no_code", prose
    if cut and best[0] < _WHOLE:
        return "", "cut", prose
    return best[2] + "\n", None, prose


def every(text: str, class_name: str, method: str) -> tuple[str, ...]:
    """All modules of an answer that define a class, or were to define it, in their order."""
    text = _without_thinking(clean_answer(text))
    blocks, candidates = _blocks(text)
    if not blocks:
        source, _, _ = extract(text, class_name, method, cut=False)
        return (source,) if f"class {class_name}" in source else ()
    found: dict[str, None] = {}
    for block in candidates:
        code = _code(block)
        if not _too_long(code) and f"class {class_name}" in code and _as_module(code, class_name, method)[0]:
            found.setdefault(code + "\n")
    return tuple(found)


def _blocks(text: str) -> tuple[list[tuple[str, bool]], list[str]]:
    """The fenced blocks, and all code that there is: closed ones first, those that were cut off last."""
    blocks = [*_fenced(text)]
    closed = [block for block, is_closed in blocks if is_closed]
    return blocks, [*closed, *_in_json(text), *(block for block, is_closed in blocks if not is_closed)]


def _code(block: str) -> str:
    return textwrap.dedent(block).strip("\n").expandtabs(4)


def _too_long(code: str) -> bool:
    return len(code.encode("utf-8", "surrogatepass")) > MAX_SOURCE_BYTES


_WHOLE = 2


def _as_module(code: str, class_name: str, method: str) -> tuple[int, str]:
    """Rank a block (0: not code for us; 1: ours but broken; 2 and up: ours) and adapt it."""
    tree = parse(code)
    named = f"class {class_name}" in code
    if tree is None:
        looks_like_it = named or (
            f"def {method}" in code and not any(f"class {name}" in code for name in BESIDE)
        )
        return (1, code) if looks_like_it else (0, code)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    names = {node.name for node in classes}
    if class_name in names:
        return _WHOLE + 2, code
    if names & BESIDE:
        return 0, code
    for node in reversed(classes):
        if any(isinstance(item, ast.FunctionDef) and item.name == method for item in node.body):
            return _WHOLE + 1, f"{code}\n\n\n{class_name} = {node.name}"
    for function in tree.body:
        if isinstance(function, ast.FunctionDef) and function.name in {method, "policy", "get_action"}:
            return _WHOLE, f"{code}\n\n\n{_wrapped(function, class_name, method)}"
    return 0, code


def _wrapped(function: ast.FunctionDef, class_name: str, method: str) -> str:
    """A class around a bare function of the observation."""
    takes_self = bool(function.args.args) and function.args.args[0].arg == "self"
    call = f"{function.name}({'None, ' if takes_self else ''}obs)"
    alias = f"_{function.name}"
    return (
        f"{alias} = {function.name}\n\n\nclass {class_name}:\n"
        f"    def {method}(self, obs):\n        return {call.replace(function.name, alias, 1)}"
    )


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
        elif language == "json":
            yield from ((code, True) for code in _in_json(body))
        position = end.end() if end else len(text)


def _in_json(text: str) -> list[str]:
    """Strings with line breaks inside a JSON value that is the whole text."""
    try:
        value = json.loads(text.strip(), strict=False)
    except (ValueError, RecursionError):
        return []
    found: list[str] = []
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str) and "\n" in item:
            found.append(item)
        elif isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
    return [block for code in found for block in ([b for b, _ in _fenced(code)] or [code])]


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


_MARKS = re.compile(r"`{3,}|~{3,}")
