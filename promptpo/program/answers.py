"""From the raw answer of a language model to one policy module, and what its syntax tree says.

Nothing here runs an answer; `ast` only reads it.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

MAX_SOURCE_BYTES = 100_000
"""The sandbox refuses longer sources, so they are not even parsed here."""

Problem = Literal["thought", "empty", "cut", "no_code", "too_long"]

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+.-]*)[^\n]*$", re.MULTILINE)
_THINK = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_OPEN_THINK = re.compile(r"<(think|thinking|reasoning)>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Answer:
    """What an answer contains.

    Attributes:
        source: A Python module that defines the class asked for; empty when there is a problem.
        problem: Why there is no source; None when there is one.
        prose: The text around the code, for people.
    """

    source: str
    problem: Problem | None = None
    prose: str = ""


def extract(text: str, *, class_name: str = "Policy", method: str = "act", cut: bool = False) -> Answer:
    """Find the module that defines `class_name` in an answer.

    Copes with several fences, none, prose around them, thinking blocks, Windows line ends, a class of
    another name, a bare function, and code wrapped in JSON. When several blocks qualify the last one
    wins: models put their final version last.

    Args:
        text: The raw answer.
        class_name: The class that is wanted.
        method: Its main method, by which a class of another name or a bare function is recognised.
        cut: The provider says that the answer hit its token limit.
    """
    text = _without_thinking(text.replace("\r\n", "\n").replace("\r", "\n"))
    if not text.strip():
        return Answer("", "cut" if cut else "empty")
    blocks = [*_fenced(text)]
    closed = [block for block, is_closed in blocks if is_closed]
    candidates = [*closed, *_in_json(text), *(block for block, is_closed in blocks if not is_closed)]
    if not blocks:
        candidates.append(text)
        candidates.extend(_tail_of_prose(text))
    prose = _prose(text)
    best: tuple[int, str] | None = None
    for block in candidates:
        code = textwrap.dedent(block).strip("\n").expandtabs(4)
        if len(code.encode("utf-8", "surrogatepass")) > MAX_SOURCE_BYTES:
            if not blocks or len(blocks) == 1:
                return Answer("", "too_long", prose)
            continue
        rank, source = _as_module(code, class_name, method)
        if rank and (best is None or rank >= best[0]):
            best = (rank, source)
    if best is None:
        unfinished = cut or any(not is_closed for _, is_closed in blocks)
        return Answer("", "cut" if unfinished else "no_code", prose)
    if cut and best[0] < _WHOLE:
        return Answer("", "cut", prose)
    return Answer(best[1] + "\n", None, prose)


_WHOLE = 2


def _as_module(code: str, class_name: str, method: str) -> tuple[int, str]:
    """Rank a block (0: not code for us; 1: ours but broken; 2 and up: ours) and adapt it."""
    tree = parse(code)
    if tree is None:
        looks_like_it = f"class {class_name}" in code or f"def {method}" in code
        return (1, code) if looks_like_it else (0, code)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    if any(node.name == class_name for node in classes):
        return _WHOLE + 2, code
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
    text = _THINK.sub("", text)
    opened = _OPEN_THINK.search(text)
    return text[: opened.start()] if opened else text


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
    outside = re.sub(r"(`{3,}|~{3,}).*?(\1|\Z)", "", text, flags=re.DOTALL)
    return re.sub(r"\n{3,}", "\n\n", outside).strip()[:4000]


def parse(source: str) -> ast.Module | None:
    """The syntax tree; None for text that is not Python (or is built to break the parser)."""
    if len(source) > MAX_SOURCE_BYTES:
        return None
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def digest(source: str) -> str:
    """A name for what a source does: equal for sources that differ in comments, layout and local names.

    Docstrings, annotations and the names of variables, attributes of ``self`` and methods other than
    the contract's do not change it; numbers, strings and structure do. Text that is not Python is
    digested as it is.
    """
    tree = parse(source)
    try:
        shape = ast.dump(_Normalise().visit(tree)) if tree is not None else source
    except RecursionError:
        shape = source
    return hashlib.blake2b(shape.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


class _Normalise(ast.NodeTransformer):
    """Drops what does not change behaviour and numbers the names that the policy chose itself."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.own: set[str] = set()

    def visit_Module(self, node: ast.Module) -> ast.AST:
        self.own = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self.own |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
        keywords = {k.arg for n in ast.walk(node) if isinstance(n, ast.Call) for k in n.keywords}
        self.own -= {"PARAMS", "TABLE", "self", "Policy"} | {k for k in keywords if k}
        return self._without_docstring(node)

    def _without_docstring(self, node: ast.AST) -> ast.AST:
        body = getattr(node, "body", [])
        first = body[0] if body else None
        text = first.value if isinstance(first, ast.Expr) else None
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            node.body = body[1:] or [ast.Pass()]  # type: ignore[attr-defined] # only called on nodes with one
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._without_docstring(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self._without_docstring(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        node.arg = self._name(node.arg)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._name(node.id)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None:
            return None
        return self.generic_visit(ast.Assign(targets=[node.target], value=node.value))

    def _name(self, name: str) -> str:
        if name not in self.own:
            return name
        return self.names.setdefault(name, f"v{len(self.names)}")


def text_digest(text: str) -> str:
    """A short name for a text."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()
