"""The recorded answers of a language model; see tests/recordings/README.md."""

from __future__ import annotations

import ast
import re
from pathlib import Path

RECORDED = sorted(Path(__file__).parents[1].joinpath("recordings").glob("*/*.md"))


def policy_in(path: Path) -> str:
    """Return the policy in an answer: its longest Python fence."""
    return max(re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL), key=len)


def defaults_in(source: str) -> dict[str, float] | None:
    """Return the default values of a policy's PARAMS, or None without any."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "PARAMS":
            return {name: float(value[0]) for name, value in ast.literal_eval(node.value).items()}
    return None
