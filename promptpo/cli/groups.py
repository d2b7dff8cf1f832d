"""Group flags: as dataclasses in a command's signature, and under titles in its help; ``--help-all`` shows all options."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

ALL = "promptpo.help_all"
"""Key in a context's ``meta`` that shows every option."""

GROUPS = ("Model", "Environment", "Budget", "Search", "Output", "Advanced")
"""Titles of groups of options, in order; ungrouped options come last."""

COMMAND_GROUPS: Mapping[str, str] = {
    "Search for a policy": "demo optimize resume refine spec",
    "Inspect runs": "show report play list compare track",
    "Use a policy": "export evaluate",
    "Compare with other methods": "baseline benchmark",
    "Other": "doctor inbox",
}
"""Commands in ``promptpo --help``, by title."""

_FIRST_RUN_NAMES = "model base_url env_kwargs reveal goal rounds candidates max_steps max_usd hint start simulate refine out estimate"
FIRST_RUN_OPTIONS = frozenset(_FIRST_RUN_NAMES.split())
"""Options that a first run may need."""


class GroupedHelp(TyperCommand):
    """A command whose options are shown in groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then groups of options; without ``--help-all`` only those that a first run may need."""
        whole, hidden = bool(ctx.meta.get(ALL)), 0
        rows: dict[str, list[Any]] = {title: [] for title in ("Arguments", *GROUPS, "Help")}
        for param in self.get_params(ctx):
            record, title = param.get_help_record(ctx), group_of(param)
            if record is not None and (whole or title not in GROUPS or param.name in FIRST_RUN_OPTIONS):
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
    """Return the title under which help shows an argument or option."""
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


def expand_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Replace every parameter of a command that is a dataclass, or has ``flags``, by its fields or flags.

    Fields are annotated like parameters of a typer command; a field without a default is a required flag.
    """
    flat: list[inspect.Parameter] = []
    groups: dict[str, tuple[Callable[..., Any], list[str]]] = {}
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        of: Any = parameter.annotation
        if is_dataclass(of):
            hints, made_by = get_type_hints(of, include_extras=True), inspect.signature(parameter.annotation)
            kind = inspect.Parameter.KEYWORD_ONLY
            given = made_by.parameters.items()
            flags = [parameter.replace(annotation=hints[name], kind=kind) for name, parameter in given]
        elif hasattr(of, "flags"):
            flags = of.flags
        else:
            flat.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        flat += flags
        groups[parameter.name] = (of, [flag.name for flag in flags])

    @functools.wraps(command)
    def with_groups(**values: Any) -> None:
        for name, (of, names) in groups.items():
            values[name] = of(**{each: values.pop(each) for each in names})
        command(**values)

    vars(with_groups).update(
        __signature__=inspect.Signature(flat), __annotations__={p.name: p.annotation for p in flat}
    )
    return with_groups
