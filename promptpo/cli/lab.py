"""``promptpo lab``: commands of studies, which nobody needs for a policy of his own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer
from typer.core import TyperGroup

from promptpo.display.saying import say

LAB: Mapping[str, str] = {
    "icpi-probe": "icpi-probe",
    "cartpole-study": "baseline cartpole-study",
    "llm-study": "baseline llm-study",
}
"""Commands of the group, each with its old name, which works in this version."""


class OldNames(TyperGroup):
    """A group that still finds commands of `LAB`, hides them, and says their new name when one is used."""

    def find(self, ctx: Any, name: str) -> Any:
        """The command of that name; None when there is none."""
        return super().get_command(ctx, name)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """What `find` finds; hidden where it has a new name."""
        command = self.find(ctx, cmd_name)
        if command is not None and cmd_name in LAB:
            command.hidden = True
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called; one sentence where its name is old."""
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and name in LAB and not ctx.resilient_parsing:
            say(
                f"promptpo: {LAB[name]} is promptpo lab {name} now; the old name goes with the next version.",
                error=True,
            )
        return name, command, rest


class _Lab(TyperGroup):
    """The commands of `LAB`, found by their old names."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Those whose package is there."""
        return [name for name in LAB if self.get_command(ctx, name) is not None]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name; None when there is none."""
        command = ctx.find_root().command if cmd_name in LAB else None
        for word in LAB.get(cmd_name, "").split():
            command = command.get_command(ctx, word) if command is not None else None
        if command is not None:
            command.hidden = False
        return command


def add_to(app: typer.Typer) -> None:
    """Put the group among the commands of `app`."""
    app.add_typer(
        typer.Typer(
            cls=_Lab,
            no_args_is_help=True,
            rich_markup_mode=None,
            context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
        ),
        name="lab",
        help="Studies: what language models can do as parts of a learner.",
        epilog="Example: promptpo lab icpi-probe --engine lookup",
    )
