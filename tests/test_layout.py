"""The layout, the import direction, and that CI runs what README says."""

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
RESULTS = ROOT / "benchmarks" / "results"  # what benchmarks wrote, policies included: not code of ours


def test_import_contracts_hold() -> None:
    """Imports point downwards, between the packages and inside promptpo, exhaustively."""
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports of types included."""
    import grimp

    names = ["promptpo", "promptpo_sandbox", "promptpo_baselines", "promptpo_benchmarks"]
    graph = grimp.build_graph(*names, exclude_type_checking_imports=False)
    below = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    graphlib.TopologicalSorter(below).prepare()  # raises CycleError


def test_the_top_level_is_as_documented() -> None:
    """Every tracked top-level package is one of ours; a stray utils.py at the top fails."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if tracked.returncode:
        pytest.skip("not a git checkout")
    tops = {line.split("/")[0] for line in tracked.stdout.splitlines() if line.endswith(".py")}
    assert tops <= {*PACKAGES, "tests", "docs", "examples"}


def readme_commands() -> Any:
    """The two commands of README's first screen."""
    first_screen = "\n".join((ROOT / "README.md").read_text().splitlines()[:25])
    return re.findall(r"```\n(pip install .*)\n(?:promptpo demo\n)?```", first_screen)


def test_ci_runs_the_readmes_commands() -> None:
    """The two commands of the first screen stand in the CI script word for word."""
    ci = (ROOT / ".ci" / "run").read_text()
    commands = readme_commands()
    assert len(commands) == 2
    for command in commands:
        assert command in ci


def modules() -> Iterator[Any]:
    """The modules of every package."""
    for package in PACKAGES:
        yield from (path for path in (ROOT / package).rglob("*.py") if RESULTS not in path.parents)


def untrusted_calls(path: Any) -> Any:
    """Calls of exec, eval or compile in a module."""
    tree = ast.parse(path.read_text())
    return {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"exec", "eval", "compile"}
    }


def test_nothing_outside_the_guest_runs_code() -> None:
    """`exec`, `eval` and `compile` are called in the sandbox's guest, and nowhere else."""
    for path in modules():
        if "guest" not in path.parts:
            assert not untrusted_calls(path), path


def test_syntax_trees_are_the_business_of_two_rooms() -> None:
    """Policies are taken apart in ``program``, specs and environments' sources in ``spec``, and nowhere else."""
    for path in modules():
        room = path.relative_to(ROOT).parts[:2]
        if room[0] != "promptpo" or room[1] in {"program", "spec"}:
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


def test_a_class_name_means_one_thing() -> None:
    """No two modules have a class of the same name; `Policy` in a policy's source is no class of ours."""
    homes: dict[str, list[Path]] = {}
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and node.name != "Policy":
                homes.setdefault(node.name, []).append(path.relative_to(ROOT))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_functions_stay_short() -> None:
    """No function is longer than 60 lines, no module longer than 400."""
    for path in modules():
        text = path.read_text()
        assert text.count("\n") <= 400, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = node.body[0]
                start = first.end_lineno if isinstance(first, ast.Expr) else node.lineno
                assert node.end_lineno - start <= 60, f"{path}:{node.name}"


@pytest.mark.parametrize(("package", "most"), [("promptpo", 156_067), ("promptpo/core", 14_020)])
def test_the_package_keeps_to_its_size(package: str, most: int) -> None:
    """Statements and expressions, so that denser lines are no gain; what grows takes something away."""
    nodes = sum(
        isinstance(node, ast.expr | ast.stmt)
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
    )
    assert nodes <= most
