"""Groups of options: each field of a dataclass becomes a flag."""

from dataclasses import dataclass
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from promptpo.cli.groups import expand_groups


@dataclass(frozen=True, kw_only=True)
class Speed:
    """A group with a default, an explained option and a required one."""

    fast: Annotated[bool, typer.Option("--fast")] = False
    times: Annotated[int, typer.Option(help="How often.")] = 3
    by: Annotated[str, typer.Option("--by")]


@pytest.fixture
def command() -> Any:
    """A command with a group, and the list of its calls."""
    app, seen = typer.Typer(), []

    @app.command()
    @expand_groups
    def go(
        where: Annotated[str, typer.Argument()], speed: Speed, loud: Annotated[bool, typer.Option()] = False
    ) -> None:
        """Go."""
        seen.append((where, speed, loud))

    return app, seen


def test_fields_become_flags(command: Any) -> None:
    """Defaults, names and required flags are those of the fields."""
    app, seen = command
    assert CliRunner().invoke(app, ["home", "--by", "foot", "--fast", "--loud"]).exit_code == 0
    assert seen == [("home", Speed(fast=True, times=3, by="foot"), True)]
    assert CliRunner().invoke(app, ["home"]).exit_code == 2
    assert "How often." in CliRunner().invoke(app, ["--help"]).output


def test_two_flags_of_one_name_are_refused() -> None:
    """Otherwise one would silently replace the other."""

    def go(speed: Speed, times: int = 2) -> None:
        """Go."""

    with pytest.raises(ValueError, match="duplicate"):
        expand_groups(go)
