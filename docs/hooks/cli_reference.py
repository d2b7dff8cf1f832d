"""Writes docs/reference/cli.md from the commands' own help: ``python docs/hooks/cli_reference.py``.

A test compares the page with what this gives, so the two cannot drift apart.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WIDTH: dict[str, Any] = {"max_content_width": 100, "terminal_width": 100}
PAGE = Path(__file__).parents[1] / "reference" / "cli.md"

SETTINGS = "<!-- settings -->"

HEAD = """# Command line

Exit codes are the same for all commands: **0** done; **1** the run or the policy failed; **2** usage error;
**130** stopped by Ctrl-C; **143** by SIGTERM. Errors are one sentence on standard error. Results go to standard output,
progress to standard error. [Configuration](../guides/configuration.md) says how to set defaults.
"""


def reference() -> str:
    """The text of the page."""
    import typer

    from promptpo.cli.app import app

    group: Any = typer.main.get_command(app)
    context = group.make_context("promptpo", [], resilient_parsing=True, **WIDTH)
    return "\n".join([HEAD, *_sections(group, context)])


def _sections(command: Any, context: Any) -> Iterator[str]:
    """One for the command and each below it, of other packages too."""
    yield _section(command, context)
    told: dict[str, str] = {}
    for name, inner in _commands(command, context):
        below = type(context)(inner, info_name=name, parent=context, **WIDTH)
        first, *others = _sections(inner, below)
        tables = first[first.find("\n| ") :]
        if tables in told:
            first = first.replace(tables, f"\nArguments and options are those of {told[tables]}.\n")
        told.setdefault(tables, _link(below.command_path))
        yield from (first, *others)


def _commands(command: Any, context: Any) -> list[tuple[str, Any]]:
    """The commands of a group by their names; none where it is no group."""
    names = command.list_commands(context) if hasattr(command, "list_commands") else []
    found = [(name, command.get_command(context, name)) for name in names]
    return [(name, one) for name, one in found if one is not None and not one.hidden]


def _section(command: Any, context: Any) -> str:
    """Usage, what it does, and tables of its commands, arguments and options."""
    from promptpo.cli.groups import GROUPS, GroupedHelp, group_of

    path = context.command_path
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    parts = [f"## {path}", f"```text\n{usage}\n```", _escaped(inspect.cleandoc(command.help or ""))]
    if command.epilog:
        parts.append(re.sub(r"^Example: (.*)$", r"Example: `\1`", command.epilog))
    rows = [
        (_link(f"{path} {name}", name), _escaped(one.get_short_help_str(200)))
        for name, one in _commands(command, context)
    ]
    parts.append(_table("command", rows))
    groups = GROUPS if isinstance(command, GroupedHelp) else ()
    kinds: dict[str, list[tuple[str, str]]] = {title: [] for title in ("argument", *groups, "option")}
    for param in command.get_params(context):
        record, title = param.get_help_record(context), group_of(param)
        if record is not None:
            kind = "argument" if title == "Arguments" else title if title in groups else "option"
            kinds[kind].append((f"`{record[0].replace('|', ', ')}`", _escaped(record[1])))
    parts.extend(_table(title, rows) for title, rows in kinds.items())
    return "\n\n".join(part for part in parts if part) + "\n"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """For the site: the settings of `promptpo.optimize` where a page has a comment for them."""
    if SETTINGS not in markdown:
        return markdown
    from promptpo.core.feature import run_settings

    rows = [(f"`{one.keyword}`", _escaped("False: " * one.negated + one.help)) for one in run_settings()]
    return markdown.replace(SETTINGS, _table("keyword of `optimize`", rows))


def _link(path: str, shown: str | None = None) -> str:
    return f"[{shown or path}](#{path.replace(' ', '-')})"


def _table(title: str, rows: list[tuple[str, str]]) -> str:
    """A table of two columns; empty without rows."""
    lines = [f"| {left} | {right} |" for left, right in rows]
    return "\n".join([f"| {title} | |", "|---|---|", *lines]) if rows else ""


def _escaped(text: str) -> str:
    """As Markdown that shows the text."""
    return re.sub(r"[|*]", r"\\\g<0>", text).replace("<", "&lt;")


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
