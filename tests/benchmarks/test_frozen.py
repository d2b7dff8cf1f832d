"""Scripts beside their results still import and call what exists."""

import ast
import importlib
import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PINNED = re.compile(r"\brevision\s[0-9a-f]{8}\b")
"""Marks a script that runs with older code."""


def is_pinned(path: Path) -> bool:
    """Return whether a script, or the study that it belongs to, names the revision that it runs with."""
    main = path.parent / "__main__.py"
    return any(PINNED.search(one.read_text("utf-8")) for one in (path, main) if one.exists())


SCRIPTS = sorted(
    path
    for path in (ROOT / "benchmarks" / "results").rglob("*.py")
    if "PARAMS" not in path.read_text("utf-8") and not is_pinned(path)
)


@pytest.mark.parametrize(
    "path", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT / "benchmarks" / "results"))
)
def test_imports_of_scripts_exist(path: Any) -> None:
    """Also those inside functions, which a later run of the study would reach."""
    pytest.importorskip("stable_baselines3")
    imports = [
        node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ImportFrom)
    ]
    for node in imports:
        if (node.module or "").startswith("promptpo"):
            module = importlib.import_module(node.module or "")
            for one in node.names:
                inner = f"{node.module}.{one.name}"
                assert hasattr(module, one.name) or importlib.util.find_spec(inner), inner


@pytest.mark.parametrize(
    "path", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT / "benchmarks" / "results"))
)
def test_calls_of_scripts_fit_the_signatures(path: Any) -> None:
    """All calls of names imported from promptpo are checked."""
    pytest.importorskip("stable_baselines3")
    tree = ast.parse(path.read_text("utf-8"))
    imported = {
        alias.asname or alias.name: getattr(importlib.import_module(node.module), alias.name, None)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("promptpo")
        for alias in node.names
    }
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            continue
        called = imported.get(node.func.id)
        if not callable(called):
            continue
        starred = any(isinstance(value, ast.Starred) for value in node.args)
        keywords = {word.arg: None for word in node.keywords if word.arg is not None}
        whole = not starred and len(keywords) == len(node.keywords)
        signature = inspect.signature(called)
        positional = [value for value in node.args if not isinstance(value, ast.Starred)]
        try:
            (signature.bind if whole else signature.bind_partial)(*positional, **keywords)
        except TypeError as error:
            raise AssertionError(f"line {node.lineno}, {node.func.id}: {error}") from error


@pytest.mark.slow
def test_study_of_the_proof_reads_its_rows() -> None:
    """The command on its page prints a verdict for every hypothesis."""
    results = ROOT / "benchmarks" / "results"
    folders = [str(results / name) for name in ("proof", "proof-learners", "proof-strongest")]
    done = subprocess.run(
        [sys.executable, str(results / "proof" / "study"), *folders],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "| sufficient on most tasks | 20 of 28 | holds |" in done.stdout
