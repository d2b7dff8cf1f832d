"""Policies that import ``looking`` as modules that stand alone: the pieces that they use become part of them."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from promptpo.program.program import Program
from promptpo.program.tree import Text, bound_here, docstring_of, parse

MODULE = "looking"

_Import = ast.Import | ast.ImportFrom


def inlined(program: Program) -> Program:
    """The same policy with the pieces of ``looking`` that it uses in the place of their imports.

    A piece keeps its name unless the policy uses that name for something else, too.
    """
    tree = parse(program.source)
    found = list(_imports(tree)) if tree else []
    if tree is None or not found:
        return program
    pieces = _pieces()
    modules = {alias.asname or alias.name for node in found for alias in _whole(node)}
    reads = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and _is_one_of(n.value, modules)]
    chosen = [alias.name for node in found for alias in _chosen(node)] + [node.attr for node in reads]
    wanted = _with_needed(chosen, pieces)
    names = _names(tree, found, wanted)
    text = Text(program.source)
    edits = [(text.start(node), text.end(node), names[node.attr]) for node in reads if node.attr in names]
    lines = []
    for node in found:
        bound = [(alias.asname or alias.name, names[alias.name]) for alias in _chosen(node)]
        aliases = [f"{name} = {piece}" for name, piece in bound if name != piece]
        if node in tree.body:
            lines += aliases
            aliases = []
        others = [alias for alias in getattr(node, "names", ()) if isinstance(node, ast.Import)]
        others = [alias for alias in others if alias.name != MODULE]
        if others:
            aliases.insert(0, "import " + ", ".join(_spelled(alias) for alias in others))
        edits.append(_statement(text, node, "; ".join(aliases), alone=node in tree.body))
    block = _block(tree, wanted, names, lines)
    place = _behind_imports(tree, text)
    return Program.parse(text.replaced([*edits, (place, place, block)]))


def _imports(tree: ast.Module) -> Iterator[_Import]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and (_whole(node) or _chosen(node)):
            yield node


def _whole(node: _Import) -> list[ast.alias]:
    """``import looking``, or that by another name."""
    return [alias for alias in node.names if alias.name == MODULE] if isinstance(node, ast.Import) else []


def _chosen(node: _Import) -> list[ast.alias]:
    """``from looking import components``."""
    ours = isinstance(node, ast.ImportFrom) and node.module == MODULE and not node.level
    return [alias for alias in node.names if alias.name in _pieces()] if ours else []


def _is_one_of(node: ast.expr, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _spelled(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


@cache
def _pieces() -> Mapping[str, ast.FunctionDef]:
    """The functions of the module by name, in its order."""
    tree = ast.parse(_source())
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


@cache
def _source() -> str:
    from sandbox.guest import looking

    return inspect.getsource(looking)


def _with_needed(chosen: Iterable[str], pieces: Mapping[str, ast.FunctionDef]) -> list[str]:
    """The names of pieces with those that they call, in the module's order."""
    wanted: set[str] = set()
    left = [name for name in chosen if name in pieces]
    while left:
        name = left.pop()
        if name not in wanted:
            wanted.add(name)
            left += [other for other in _read_in(pieces[name]) if other in pieces]
    return [name for name in pieces if name in wanted]


def _read_in(piece: ast.FunctionDef) -> set[str]:
    return {node.id for node in ast.walk(piece) if isinstance(node, ast.Name)}


def _names(tree: ast.Module, found: list[_Import], wanted: list[str]) -> dict[str, str]:
    """What each piece, and numpy, is called in the policy."""
    used = set(_used(tree))
    at_top = Counter(bound_here(tree.body))
    kept: set[str] = set()
    for node in found:
        if node in tree.body:
            kept |= {alias.name for alias in _chosen(node) if alias.asname in (None, alias.name)}
    deeper = {alias.name for node in found if node not in tree.body for alias in _chosen(node)}
    declared = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
    names = {}
    for name in wanted:
        own = name in kept - deeper - declared and at_top[name] == 1
        names[name] = name if own or name not in used else _free(f"{MODULE}_{name}", used)
    numpy = [alias for node in tree.body if isinstance(node, ast.Import) for alias in node.names]
    has_numpy = any(alias.name == "numpy" and alias.asname == "np" for alias in numpy)
    ours = (has_numpy and at_top["np"] == 1 and "np" not in declared) or "np" not in used
    names["np"] = "np" if ours else _free(f"{MODULE}_np", used)
    return names


def _used(tree: ast.Module) -> Iterator[str]:
    """Every name that the policy binds or reads, wherever that is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names
        else:
            yield from bound_here([node]) if isinstance(node, _BINDERS) else ()


_BINDERS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.alias, ast.ExceptHandler, ast.MatchAs)


def _free(name: str, used: set[str]) -> str:
    while name in used:
        name += "_"
    return name


def _statement(text: Text, node: _Import, new: str, *, alone: bool) -> tuple[int, int, str]:
    """The edit that puts something else in an import's place; its whole line goes where nothing is left of it."""
    start, end = text.start(node), text.end(node)
    line_start = text.data.rfind(b"\n", 0, start) + 1
    line_end = text.data.find(b"\n", end)
    line_end = len(text.data) if line_end < 0 else line_end + 1
    rest = text.data[end:line_end].strip()
    if alone and not new and start == line_start and (not rest or rest.startswith(b"#")):
        return start, line_end, ""
    return start, end, new or "pass"


def _behind_imports(tree: ast.Module, text: Text) -> int:
    """The offset of the line behind the imports that the module begins with."""
    last: ast.stmt | None = docstring_of(tree)
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            last = node
        elif node is not last:
            break
    if last is None:
        return 0
    end = text.data.find(b"\n", text.end(last))
    return len(text.data) if end < 0 else end + 1


def _block(tree: ast.Module, wanted: list[str], names: Mapping[str, str], aliases: list[str]) -> str:
    """The pieces as text, with numpy where the policy has it by no such name."""
    if not wanted:
        return "\n".join(["", *aliases, ""]) if aliases else ""
    bound = set(bound_here(tree.body))
    numpy = "" if names["np"] in bound else f"import numpy as {names['np']}\n\n\n"
    renamed = [_renamed(_pieces()[name], names) for name in wanted]
    body = "\n\n\n".join([*renamed, *(["\n".join(aliases)] if aliases else [])])
    note = f"# Pieces for looking at pictures, as promptpo's module `{MODULE}` has them.\n\n\n"
    return f"\n{numpy}{note}{body}\n\n"


def _renamed(piece: ast.FunctionDef, names: Mapping[str, str]) -> str:
    """The text of a piece with the names that it and what it needs have here."""
    source = ast.get_source_segment(_source(), piece) or ""
    tree = ast.parse(source)
    function = tree.body[0]
    text = Text(source)
    edits = [
        (text.start(node), text.end(node), names[node.id])
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and names.get(node.id, node.id) != node.id
    ]
    if isinstance(function, ast.FunctionDef) and names[function.name] != function.name:
        start = text.start(function) + len("def ")
        edits.append((start, start + len(function.name), names[function.name]))
    return text.replaced(edits)
