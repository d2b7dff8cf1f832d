"""Help in groups: ``--help`` shows what a first run needs, ``--help-all`` every option."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

ALL = "promptpo.help_all"
"""Set in a context's ``meta``: show every option."""

GROUPS: Mapping[str, str] = {
    "Model": "model base_url effort price repair_model no_check temperature frames max_output_tokens max_prompt_tokens",
    "Environment": "env_kwargs max_episode_steps wrapper tasks held_out_kwargs show_variant reward goal judge",
    "Budget": "rounds candidates max_steps max_calls max_tokens max_usd max_seconds episodes validation_episodes test_episodes",
    "Search": "hint start seed seeds refine teacher recipe option stop_at tune repairs",
    "Output": "out estimate film quiet as_json track",
    "Advanced": "reveal spec spec_detail no_clip jobs executor allow_weaker_sandbox trust",
}
"""Options of `optimize` and `resume`, by their parameters' names; what is in none stands at the end."""

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
        whole = bool(ctx.meta.get(ALL))
        records = {
            str(p.name): record
            for p in self.get_params(ctx)
            if (record := p.get_help_record(ctx)) is not None
        }
        arguments = [
            records.pop(str(p.name)) for p in self.get_params(ctx) if p.param_type_name == "argument"
        ]
        with formatter.section("Arguments"):
            formatter.write_dl(arguments)
        for title, names in GROUPS.items():
            rows = [
                records.pop(name) for name in names.split() if name in records and (whole or name in FIRST)
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)
        hidden = [records.pop(name) for names in GROUPS.values() for name in names.split() if name in records]
        with formatter.section("Help"):
            formatter.write_dl(list(records.values()))
        if hidden:
            formatter.write_paragraph()
            formatter.write_text(f"{len(hidden)} more options: {ctx.command_path} --help-all")


def _show_all(ctx: typer.Context, wanted: bool) -> None:
    if wanted:
        ctx.meta[ALL] = True
        print(ctx.get_help())
        raise typer.Exit


HelpAll = Annotated[
    bool,
    typer.Option("--help-all", is_eager=True, callback=_show_all, help="Show every option and exit."),
]
