"""``--json``: every command has it and prints one document and nothing else."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from promptpo.cli.app import app, run
from tests.promptpo.optimizing import Model, optimize
from tests.promptpo.policies import WEAK


def each_command() -> Iterator[tuple[str, Any]]:
    """Yield every command with its name, including those of installed packages and of groups."""
    group: Any = typer.main.get_command(app)
    context = group.make_context("promptpo", [], resilient_parsing=True)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inner: Any = type(context)(command, parent=context, info_name=name)
        names = command.list_commands(inner) if hasattr(command, "list_commands") else []
        yield from ((f"{name} {one}", command.get_command(inner, one)) for one in names)
        if not names:
            yield name, command


@pytest.mark.parametrize(
    ("name", "command"), each_command(), ids=lambda one: one if isinstance(one, str) else ""
)
def test_every_command_has_a_json_flag(name: str, command: Any) -> None:
    assert "--json" in {flag for parameter in command.params for flag in parameter.opts}, name


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A folder with a run that a model wrote."""
    path: Any = tmp_path_factory.mktemp("json")
    optimize(Model(default=WEAK), path / "run", rounds=1, candidates=1, test_episodes=3)
    return path


@pytest.mark.parametrize(
    "line",
    [
        "optimize CartPole-v1 --model search --estimate", "show run", "show run best", "export run", "list .",
        "compare run run", "report run --no-film", "track run --to monitor:m.csv", "spec CartPole-v1", "inbox .",
        "evaluate run --episodes 2", "benchmark list", "benchmark classic --methods random,zero --dry-run",
        "baseline random CartPole-v1 --validation-episodes 2 --test-episodes 2 --out base",
    ],
)  # fmt: skip
def test_standard_output_is_one_json_document(
    folder: Any, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    assert run([*line.split(), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)
