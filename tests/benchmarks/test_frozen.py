"""Scripts that stand beside their results: what they import is there."""

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
"""Says of a script that it runs with older code."""


def pinned(path: Path) -> bool:
    """Whether a script, or the study that it is a part of, names the revision that it runs with."""
    main = path.parent / "__main__.py"
    return any(PINNED.search(one.read_text("utf-8")) for one in (path, main) if one.exists())


SCRIPTS = sorted(
    path
    for path in (ROOT / "benchmarks" / "results").rglob("*.py")
    if "PARAMS" not in path.read_text("utf-8") and not pinned(path)
)


@pytest.mark.parametrize(
    "path", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT / "benchmarks" / "results"))
)
def test_what_a_script_imports_is_there(path: Any) -> None:
    """Within functions too, since a study that nobody has run for a while is started months later."""
    pytest.importorskip("stable_baselines3")
    found = [
        node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ImportFrom)
    ]
    for node in found:
        if (node.module or "").startswith("promptpo"):
            module = importlib.import_module(node.module or "")
            for one in node.names:
                inner = f"{node.module}.{one.name}"
                assert hasattr(module, one.name) or importlib.util.find_spec(inner), inner


@pytest.mark.parametrize(
    "path", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT / "benchmarks" / "results"))
)
def test_what_a_script_calls_takes_its_arguments(path: Any) -> None:
    """Every call of something imported from promptpo, by its name, fits the signature of today."""
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
def test_the_study_of_the_proof_reads_its_rows() -> None:
    """The command of the page on it prints a verdict for every hypothesis."""
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
