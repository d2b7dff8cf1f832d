"""Groups of flags: what a user sees is one flag for each field."""

from dataclasses import dataclass
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from promptpo.cli.groups import expand_groups


@dataclass(frozen=True, kw_only=True)
class Speed:
    """A group for the test."""

    fast: Annotated[bool, typer.Option("--fast")] = False
    times: Annotated[int, typer.Option(help="How often.")] = 3
    by: Annotated[str, typer.Option("--by")]


@pytest.fixture
def command() -> Any:
    """A command with a group, and what it was called with."""
    app, seen = typer.Typer(), []

    @app.command()
    @expand_groups
    def go(
        where: Annotated[str, typer.Argument()], speed: Speed, loud: Annotated[bool, typer.Option()] = False
    ) -> None:
        """Go."""
        seen.append((where, speed, loud))

    return app, seen


def test_fields_are_flags(command: Any) -> None:
    """Defaults, names and required ones are those of the fields."""
    app, seen = command
    assert CliRunner().invoke(app, ["home", "--by", "foot", "--fast", "--loud"]).exit_code == 0
    assert seen == [("home", Speed(fast=True, times=3, by="foot"), True)]
    assert CliRunner().invoke(app, ["home"]).exit_code == 2
    assert "How often." in CliRunner().invoke(app, ["--help"]).output


def test_two_flags_of_one_name_are_refused() -> None:
    """They would silently be one."""

    def go(speed: Speed, times: int = 2) -> None:
        """Go."""

    with pytest.raises(ValueError, match="duplicate"):
        expand_groups(go)
