"""Every number by which the loop, its features and its prompts decide something has a row that says why it is what it is."""

import ast
import collections
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "benchmarks" / "results" / "worth" / "constants.toml"

DECIDING = (
    *(f"core/{name}.py" for name in ("sample", "evaluate", "select", "stop", "held_out")),
    *(
        f"features/{name}/*.py"
        for name in ("experiments", "goals", "program_search", "references", "teacher", "tuning")
    ),
    "prompts/*.py",
)
"""Files whose constants are in the table."""

OPEN = 2
"""Constants of which nothing says that another value would not do better; this number may only fall."""


def named(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Names in capitals at the top of a module, with what they are given."""
    for node in tree.body:
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            target, value = node.target, node.value
        else:
            continue
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = list(zip(target.elts, value.elts, strict=True))
        for one, given in pairs:
            if isinstance(one, ast.Name) and one.id.lstrip("_").isupper():
                yield one.id, given


def has_numbers(value: ast.expr) -> bool:
    """Whether a value is made of numbers."""
    numbers = (x.value for x in ast.walk(value) if isinstance(x, ast.Constant))
    return any(isinstance(one, int | float) and not isinstance(one, bool) for one in numbers)


def deciding() -> dict[tuple[str, str], str]:
    """File and name of each constant of these folders that holds a number, with its value as it is written."""
    return {
        (str(path.relative_to(ROOT)), name): ast.unparse(value)
        for path in sorted(path for room in DECIDING for path in (ROOT / "promptpo").glob(room))
        if path.name
        != "settings.py"  # what a person can set, and shares of the budget as core/budget.py has them
        for name, value in named(ast.parse(path.read_text(encoding="utf-8")))
        if has_numbers(value) and name != "INDENT"
    }


def test_every_deciding_constant_has_a_row() -> None:
    """With its value; and no row is of a constant that is gone."""
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"))["constant"]
    told = {(one["where"], one["name"]): one["value"] for one in rows}
    assert dict(told.items() ^ deciding().items()) == {}, f"correct {TABLE.name}"
    assert all(one["row"] for one in rows)


def test_what_nothing_speaks_for_becomes_less() -> None:
    """Each is measured, by definition, or open; and the open ones do not become more."""
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"))["constant"]
    counts = collections.Counter(one["status"] for one in rows)
    assert set(counts) <= {"measured", "definition", "open"}
    assert counts["open"] <= OPEN
