"""One-line faults in a module, and how many of them its tests notice.

    python -m tests.mutation promptpo/core/budget.py tests/promptpo/core/test_budget.py

Each comparison, `and`, `or`, `not`, sum, difference, product, quotient, `min`, `max` and number in a function is changed
in turn, and the tests run in a fork of a process that has imported the libraries. Every survivor is listed with its line;
the last line has the score. `--sample N` selects N evenly spread faults.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.abc
import importlib.util
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SECONDS = 120
"""Time limit for the tests of one fault; a fault that hangs them counts as noticed."""

SWAPPED: dict[type[Any], type[Any]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
}  # fmt: skip
NAMES = {"min": "max", "max": "min"}


def mutate(node: ast.AST) -> Iterator[str]:
    """Change a node in place and describe the change, once for each possible fault."""
    if isinstance(node, ast.Compare):
        for i, operator in enumerate(node.ops):
            if type(operator) in SWAPPED:
                node.ops[i] = SWAPPED[type(operator)]()
                yield f"{type(operator).__name__} -> {type(node.ops[i]).__name__}"
                node.ops[i] = operator
    elif isinstance(node, ast.BoolOp | ast.BinOp) and type(node.op) in SWAPPED:
        before, node.op = node.op, SWAPPED[type(node.op)]()
        yield f"{type(before).__name__} -> {type(node.op).__name__}"
        node.op = before
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner, node.operand = node.operand, ast.UnaryOp(ast.Not(), node.operand)
        yield "not -> nothing"
        node.operand = inner
    elif isinstance(node, ast.Name) and node.id in NAMES and isinstance(node.ctx, ast.Load):
        name, node.id = node.id, NAMES[node.id]
        yield f"{name} -> {node.id}"
        node.id = name
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
        value, node.value = node.value, (not node.value) if type(node.value) is bool else node.value + 1
        yield f"{value!r} -> {node.value!r}"
        node.value = value


def mutants(text: str) -> Iterator[tuple[int, str, ast.Module]]:
    """Yield line, description and module of every fault in a function's body; annotations are left out."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            if getattr(node, name, None) is not None:
                setattr(node, name, ast.Constant(None))
    bodies = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for node in {id(node): node for body in bodies for part in body.body for node in ast.walk(part)}.values():
        for what in mutate(node):
            yield getattr(node, "lineno", 0), what, ast.fix_missing_locations(copy.deepcopy(tree))


class Mutant(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module with a fault in it."""

    def __init__(self, name: str, path: str, tree: ast.Module) -> None:
        self.name, self.path, self.tree = name, path, tree

    def find_spec(self, fullname: str, *_: Any) -> Any:
        """Return a spec for that module only."""
        if fullname != self.name:
            return None
        return importlib.util.spec_from_file_location(fullname, self.path, loader=self)

    def exec_module(self, module: Any) -> None:
        """Run the module with its fault."""
        exec(compile(self.tree, self.path, "exec"), vars(module))  # noqa: S102 - our own module


def survives(mutant: Mutant | None, tests: list[str]) -> bool:
    """Return whether the tests pass in a fork of this process that loads the fault."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(SECONDS)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        if mutant is not None:
            sys.meta_path.insert(0, mutant)
        import pytest

        os._exit(
            int(pytest.main(["-q", "-x", "-n", "0", "-p", "no:cacheprovider", "-p", "no:randomly", *tests]))
        )
    return os.waitpid(pid, 0)[1] == 0


def main() -> None:
    """Print the survivors and the score."""
    parser = argparse.ArgumentParser(description="One-line faults in a module that its tests do not notice.")
    parser.add_argument("module", type=Path)
    parser.add_argument("tests", nargs="+")
    parser.add_argument("--sample", type=int, default=10**9)
    given = parser.parse_args()
    for library in (
        "numpy",
        "gymnasium",
        "pydantic",
        "hypothesis",
        "jinja2",
        "typer",
        "scipy.stats",
        "pytest",
    ):
        if importlib.util.find_spec(library.partition(".")[0]):
            importlib.import_module(library)
    name = ".".join(given.module.with_suffix("").parts)
    if not survives(None, given.tests):
        raise SystemExit("The tests fail without any fault.")
    faults = list(mutants(given.module.read_text(encoding="utf-8")))
    chosen = faults[:: -(-len(faults) // given.sample)]
    alive = 0
    for line, what, tree in chosen:
        if survives(Mutant(name, str(given.module), tree), given.tests):
            alive += 1
            print(f"{given.module}:{line}: {what}", flush=True)
    print(f"{given.module}: {len(chosen) - alive} of {len(chosen)} noticed ({1 - alive / len(chosen):.0%})")


if __name__ == "__main__":
    main()
