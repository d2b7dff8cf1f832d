"""Scripts that stand beside their results: what they import is there."""

import ast
import importlib
import importlib.util
import re
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
