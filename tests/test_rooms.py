"""Each room keeps to its size, counted in syntax nodes, so that denser lines are no gain."""

import ast
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
WRITTEN = {"results"}  # folders whose files a program wrote


def sizes(root: Path = ROOT) -> Counter[str]:
    """Statements and expressions of each top-level package, and of each folder of promptpo."""
    found: Counter[str] = Counter()
    for package in ("promptpo", "sandbox", "baselines", "benchmarks"):
        for path in (root / package).rglob("*.py"):
            parts = path.relative_to(root).parts
            if WRITTEN & set(parts):
                continue
            nodes = sum(isinstance(x, ast.expr | ast.stmt) for x in ast.walk(ast.parse(path.read_bytes())))
            found[package] += nodes
            if package == "promptpo":
                found["promptpo/" + (parts[1] if len(parts) > 2 else "*.py")] += nodes
    return found


def budgets() -> dict[str, int]:
    """The table in pyproject.toml."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["rooms"]
    return dict(table)


def test_no_room_is_larger_than_its_budget() -> None:
    """What grows has to take something away elsewhere in its room, or say in pyproject.toml why not."""
    budget = budgets()
    over = {
        room: f"{n:,} > {budget.get(room, 0):,}" for room, n in sizes().items() if n > budget.get(room, 0)
    }
    assert not over


def test_every_budget_is_of_a_room() -> None:
    """A room that is gone takes its budget with it."""
    assert set(budgets()) == set(sizes())


def test_nodes_are_counted_not_lines(tmp_path: Path) -> None:
    """The same code on one line or on three has one size; comments have none."""
    for package in ("promptpo", "sandbox", "baselines", "benchmarks"):
        (tmp_path / package / "results").mkdir(parents=True)
    (tmp_path / "promptpo" / "a.py").write_text("x = f(1,\n  2)  # a comment\ny = 3\n")
    (tmp_path / "promptpo" / "room").mkdir()
    (tmp_path / "promptpo" / "room" / "b.py").write_text("x = f(1, 2); y = 3")
    (tmp_path / "benchmarks" / "results" / "written.py").write_text("z = 1")
    found = sizes(tmp_path)
    assert found["promptpo/*.py"] == found["promptpo/room"] == 9
    assert found["promptpo"] == 18
    assert found["benchmarks"] == 0
