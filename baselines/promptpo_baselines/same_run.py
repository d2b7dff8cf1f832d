"""The configuration of a run that goes on only as it was begun."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from promptpo.errors import RunError, UsageError

CONFIG = "config.json"


def begin_or_check(
    directory: Path, wanted: Mapping[str, Any], kind: str, *, is_new: bool, but: frozenset[str] = frozenset()
) -> None:
    """Write the configuration of a new run; refuse to go on with another run's directory.

    Args:
        directory: Of the run.
        wanted: The configuration as JSON.
        kind: What the directory should hold, as in "holds no ICPI run".
        is_new: Whether nothing has happened in it.
        but: Keys that may differ.

    Raises:
        RunError: What is there cannot be read.
        UsageError: The directory holds another run.
    """
    path = directory / CONFIG
    if is_new:
        path.write_text(json.dumps(wanted, indent=2) + "\n", encoding="utf-8")
        return
    try:
        found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RunError(
            f"{directory} holds no {kind}: {path.name} cannot be read; choose another --out."
        ) from error
    other = [name for name in wanted if name not in but and found.get(name) != wanted[name]]
    if other:
        raise UsageError(
            f"{directory} holds a run with another {', '.join(other)}; repeat its flags to go on with it, or "
            f"choose another --out."
        )
