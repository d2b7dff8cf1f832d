"""The layout, the import direction, and that CI runs the README's commands."""

import ast
import graphlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("promptpo", "sandbox", "baselines", "benchmarks")
RESULTS = ROOT / "benchmarks" / "results"  # written by benchmarks, policies included


def test_import_contracts_hold() -> None:
    """Imports point downwards, between the packages and inside promptpo."""
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_no_import_cycles() -> None:
    """Imports for type annotations count too."""
    import grimp

    names = ["promptpo", "promptpo_sandbox", "promptpo_baselines", "promptpo_benchmarks"]
    graph = grimp.build_graph(*names, exclude_type_checking_imports=False)
    below = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    graphlib.TopologicalSorter(below).prepare()  # raises CycleError


def test_top_level_has_only_known_packages() -> None:
    """A stray utils.py at the top fails."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if tracked.returncode:
        pytest.skip("not a git checkout")
    tops = {line.split("/")[0] for line in tracked.stdout.splitlines() if line.endswith(".py")}
    assert tops <= {*PACKAGES, "tests", "docs", "examples"}


def readme_commands() -> Any:
    """Return the two commands of the README's first screen."""
    first_screen = "\n".join((ROOT / "README.md").read_text().splitlines()[:25])
    return re.findall(r"```\n(pip install .*)\n(?:promptpo demo\n)?```", first_screen)


def test_ci_runs_the_readmes_commands() -> None:
    """Word for word."""
    ci = (ROOT / ".ci" / "run").read_text()
    commands = readme_commands()
    assert len(commands) == 2
    for command in commands:
        assert command in ci


def modules() -> Iterator[Any]:
    """Yield the modules of every package."""
    for package in PACKAGES:
        yield from (path for path in (ROOT / package).rglob("*.py") if RESULTS not in path.parents)


def untrusted_calls(path: Any) -> Any:
    """Return the calls of exec, eval or compile in a module."""
    tree = ast.parse(path.read_text())
    return {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"exec", "eval", "compile"}
    }


def test_nothing_outside_the_guest_runs_code() -> None:
    """Other modules call none of `exec`, `eval` and `compile`."""
    for path in modules():
        if "guest" not in path.parts:
            assert not untrusted_calls(path), path


def test_only_two_packages_use_syntax_trees() -> None:
    """Policies are analysed in ``program``, specs and environment sources in ``spec``."""
    for path in modules():
        package = path.relative_to(ROOT).parts[:2]
        if package[0] != "promptpo" or package[1] in {"program", "spec"}:
            continue
        tree = ast.parse(path.read_text())
        imported = {
            name.split(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in (
                [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            )
        }
        assert "ast" not in imported, path


def test_class_names_are_unique() -> None:
    """`Policy` in a policy's source does not count."""
    homes: dict[str, list[Path]] = {}
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and node.name != "Policy":
                homes.setdefault(node.name, []).append(path.relative_to(ROOT))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_functions_and_modules_stay_short() -> None:
    """A function has at most 60 lines and a module 400."""
    for path in modules():
        text = path.read_text()
        assert text.count("\n") <= 400, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = node.body[0]
                start = first.end_lineno if isinstance(first, ast.Expr) else node.lineno
                assert node.end_lineno - start <= 60, f"{path}:{node.name}"


@pytest.mark.parametrize(("package", "most"), [("promptpo", 154_211), ("promptpo/core", 13_928)])
def test_the_package_keeps_to_its_size(package: str, most: int) -> None:
    """Statements and expressions, so that denser lines are no gain; what grows takes something away."""
    nodes = sum(
        isinstance(node, ast.expr | ast.stmt)
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
    )
    assert nodes <= most
