"""Help in groups: ``--help`` shows what a first run needs, ``--help-all`` every option."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

ALL = "promptpo.help_all"
"""Set in a context's ``meta``: show every option."""

GROUPS = ("Model", "Environment", "Budget", "Search", "Output", "Advanced")
"""Titles of options, in their order; what is in none stands at the end."""

COMMAND_GROUPS: Mapping[str, str] = {
    "Make a policy": "optimize resume refine spec",
    "See what happened": "show report play list compare track",
    "Use it": "export evaluate",
    "Compare with other methods": "baseline benchmark",
    "Help and the rest": "doctor inbox",
}
"""Commands as ``promptpo --help`` shows them."""

_FIRST = "model base_url env_kwargs reward goal rounds candidates max_steps max_usd hint start seed refine out estimate"
FIRST = frozenset(_FIRST.split())
"""What a first run may need."""


class GroupedHelp(TyperCommand):
    """A command whose options are shown in groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then groups; only what a first run needs, unless all is asked for."""
        whole, hidden = bool(ctx.meta.get(ALL)), 0
        rows: dict[str, list[Any]] = {title: [] for title in ("Arguments", *GROUPS, "Help")}
        for param in self.get_params(ctx):
            record, title = param.get_help_record(ctx), group_of(param)
            if record is not None and (whole or title not in GROUPS or param.name in FIRST):
                rows[title].append(record)
            else:
                hidden += record is not None
        for title, records in rows.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
        if hidden:
            formatter.write_paragraph()
            formatter.write_text(f"{hidden} more options: {ctx.command_path} --help-all")


def group_of(param: Any) -> str:
    """The title under which help shows an argument or an option."""
    if param.param_type_name == "argument":
        return "Arguments"
    return getattr(param, "rich_help_panel", None) or "Help"


def _show_all(ctx: typer.Context, wanted: bool) -> None:
    if wanted:
        ctx.meta[ALL] = True
        print(ctx.get_help())
        raise typer.Exit


HelpAll = Annotated[
    bool,
    typer.Option("--help-all", is_eager=True, callback=_show_all, help="Show every option and exit."),
]
