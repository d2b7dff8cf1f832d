"""Every constant on which the loop, its features and its prompts base a decision has a row that justifies its value."""

import ast
import collections
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "benchmarks" / "results" / "worth" / "constants.toml"

DECISION_FILES = (
    *(f"core/{name}.py" for name in ("sample", "evaluate", "select", "stop", "final_test")),
    *(
        f"features/{name}/*.py"
        for name in ("experiments", "goals", "program_search", "references", "teacher", "tuning")
    ),
    "prompts/*.py",
)
"""Files whose constants are in the table."""

MAX_OPEN = 2
"""Constants without evidence for their value; lower this number when one gets it."""


def constants(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Yield names in capitals at the top of a module, with their values."""
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
    """Return whether a value contains numbers."""
    numbers = (x.value for x in ast.walk(value) if isinstance(x, ast.Constant))
    return any(isinstance(one, int | float) and not isinstance(one, bool) for one in numbers)


def decision_constants() -> dict[tuple[str, str], str]:
    """Return the source of each numeric constant in these files, by file and name."""
    return {
        (str(path.relative_to(ROOT)), name): ast.unparse(value)
        for path in sorted(path for room in DECISION_FILES for path in (ROOT / "promptpo").glob(room))
        if path.name != "settings.py"  # settings of users, and shares of the budget defined in core/budget.py
        for name, value in constants(ast.parse(path.read_text(encoding="utf-8")))
        if has_numbers(value) and name != "INDENT"
    }


def test_every_decision_constant_has_a_row() -> None:
    """With its value, and there is no row of a constant that is gone."""
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"))["constant"]
    listed = {(one["where"], one["name"]): one["value"] for one in rows}
    assert dict(listed.items() ^ decision_constants().items()) == {}, f"correct {TABLE.name}"
    assert all(one["row"] for one in rows)


def test_number_of_unjustified_constants_does_not_grow() -> None:
    """Each is measured, by definition, or open."""
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"))["constant"]
    counts = collections.Counter(one["status"] for one in rows)
    assert set(counts) <= {"measured", "definition", "open"}
    assert counts["open"] <= MAX_OPEN
