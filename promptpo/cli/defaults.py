"""Read defaults for flags from ``promptpo.toml`` or ``[tool.promptpo]`` in ``pyproject.toml``.

The command line takes precedence over ``promptpo.toml``, which takes precedence over ``pyproject.toml``, and that over
the built-in default. Both files must be in the working directory; a table holds the flags of one command, without
leading dashes::

    [optimize]
    model = "openai:qwen3"
    base-url = "http://127.0.0.1:11434/v1"
    rounds = 8

``trust`` cannot be set there, nor flags by which the user vouches for a run that was made elsewhere. In the directory
of such a run neither file is read, since they came with it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from promptpo.errors import UsageError, suggest
from promptpo.files import read_toml

ONLY_GIVEN = {"trust": None, "base-url": "resume", "allow-weaker-sandbox": "resume"}
"""Flags that files cannot set, to the command concerned; None for every command."""

OWN, SHARED = "promptpo.toml", "pyproject.toml"


def read_defaults(
    folder: Path, commands: Callable[[], Sequence[str]], find: Callable[[str], Any]
) -> dict[str, dict[str, Any]]:
    """Return defaults by command and parameter.

    Args:
        folder: The folder of the files.
        commands: Returns the names of all commands; called only if a file has defaults, since it searches other packages.
        find: Returns the command of a name, with its ``params``, or None if it cannot be imported; called for the
            commands in a file.

    Raises:
        UsageError: A file cannot be read, or names a command or a flag that does not exist.
    """
    defaults: dict[str, dict[str, Any]] = {}
    if _is_foreign_run(folder):
        return defaults
    shared = _read(folder / SHARED).get("tool", {}).get("promptpo", {})
    for path, tables in ((folder / SHARED, shared), (folder / OWN, _read(folder / OWN))):
        for command, table in tables.items():
            names = commands()
            if command not in names or not isinstance(table, dict):
                raise UsageError(f"{path}: {_nearest(command, names, 'there is no command')}")
            found = find(command)
            if found is None:  # of a package that cannot be imported, which concerns no other command
                continue
            known = {_spell(flag): param for param in found.params for flag in param.opts}
            for flag, value in table.items():
                param = known.get(_spell(flag))
                if param is None or param.param_type_name != "option":
                    raise UsageError(f"{path}: {_nearest(flag, known, f'{command} has no flag')}")
                if ONLY_GIVEN.get(_spell(flag), "") in {None, command}:
                    raise UsageError(
                        f"{path}: --{_spell(flag)} of {command} can only be set on the command line."
                    )
                defaults.setdefault(command, {})[param.name] = _value(
                    value, several=getattr(param, "multiple", False)
                )
    return defaults


def _read(path: Path) -> dict[str, Any]:
    return read_toml(path) if path.exists() else {}


def _is_foreign_run(folder: Path) -> bool:
    if not ((folder / "config.toml").exists() and (folder / "journal.jsonl").exists()):
        return False
    from promptpo.run.origin import is_made_here

    return not is_made_here(folder)


def _spell(flag: str) -> str:
    return flag.lstrip("-").replace("_", "-")


def _value(value: Any, *, several: bool) -> Any:
    """Convert a value to the command line's form: a table to JSON, a single value of a repeatable flag to a list."""
    if several:
        return [_value(item, several=False) for item in (value if isinstance(value, list) else [value])]
    return json.dumps(value) if isinstance(value, dict) else value


def _nearest(name: str, known: Iterable[str], what: str) -> str:
    hint = suggest(_spell(name), known)
    return f"{what} {name!r}" + (f"; {hint}" if hint else ".")
