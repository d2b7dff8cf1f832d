"""Writes docs/reference/cli.md from the commands' own help: ``python docs/hooks/cli_reference.py``.

A test compares the page with what this gives, so the two cannot drift apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

WIDTH: dict[str, Any] = {"max_content_width": 100, "terminal_width": 100}
PAGE = Path(__file__).parents[1] / "reference" / "cli.md"

HEAD = """# Command line

Exit codes are the same for all commands: **0** done; **1** the run or the policy failed; **2** wrong usage;
**130** stopped by a second Ctrl-C. Errors are one sentence on standard error. Results go to standard output,
progress to standard error. [Configuration](../guides/configuration.md) says how to set defaults.
"""


def reference() -> str:
    """The text of the page."""
    import typer

    from promptpo.cli.app import app

    group: Any = typer.main.get_command(app)
    context = group.make_context("promptpo", [], resilient_parsing=True, **WIDTH)
    parts = [HEAD, _section("promptpo", group.get_help(context))]
    parts.extend(_sections(group, context))
    return "\n".join(parts)


def _sections(group: Any, context: Any) -> Iterator[str]:
    """One for each command below `group`, of other packages too."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command.hidden:
            continue
        inner = type(context)(command, info_name=name, parent=context, **WIDTH)
        inner.meta["promptpo.help_all"] = True
        yield _section(inner.command_path, command.get_help(inner))
        if hasattr(command, "list_commands"):
            yield from _sections(command, inner)


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n```text\n{text.rstrip()}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
