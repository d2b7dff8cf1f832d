"""`optimize --help` shows the options of a first run, `--help-all` every option in its group."""

from __future__ import annotations

import re

import pytest
import typer

from promptpo.cli.app import app, run
from promptpo.cli.groups import FIRST_RUN_OPTIONS, GROUPS, group_of


@pytest.mark.parametrize("command", ["optimize", "resume"])
def test_every_option_has_a_group(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    group = typer.main.get_command(app)
    context = group.make_context("promptpo", [], resilient_parsing=True)
    options = [p for p in group.get_command(context, command).params if p.param_type_name == "option"]
    assert all(group_of(p) in GROUPS for p in options if p.name != "help_all")
    assert run([command, "--help-all"]) == 0
    shown = capsys.readouterr().out
    assert all(max(p.opts, key=len) in shown for p in options)


def test_short_help_points_to_the_other_options(capsys: pytest.CaptureFixture[str]) -> None:
    """It lists at most fifteen options."""
    assert run(["optimize", "--help"]) == 0
    shown = capsys.readouterr().out
    assert len(FIRST_RUN_OPTIONS) <= 15
    assert len(re.findall(r"^  (?:-n, )?--(?!help)", shown, re.MULTILINE)) == len(FIRST_RUN_OPTIONS)
    assert "more options: promptpo optimize --help-all" in shown
