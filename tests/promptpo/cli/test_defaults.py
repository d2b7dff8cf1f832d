"""The configuration file: precedence, mistakes and shell completion."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer

from promptpo.cli.app import app, run
from promptpo.cli.defaults import read_defaults
from promptpo.run.config_file import load_config
from tests.promptpo.commands import run_command

ROOT = Path(__file__).parents[3]
QUICK = [
    "--no-film",
    "--tune",
    "none",
    "--jobs",
    "1",
    "--test-episodes",
    "2",
    "--validation-episodes",
    "2",
    "--max-steps",
    "3000",
    "--quiet",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An empty current directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_flags_override_promptpo_toml_overrides_pyproject(folder: Any) -> None:
    """The order is flag, promptpo.toml, pyproject.toml, built-in default."""
    (folder / "pyproject.toml").write_text(
        '[project]\nname = "x"\n[tool.promptpo.optimize]\nrounds = 3\nseed = 5\ncandidates = 2\nmodel = "search"\n'
    )
    (folder / "promptpo.toml").write_text(
        "[optimize]\nrounds = 2\nseed = 6\nenv-kwargs = {sutton_barto_reward = true}\n"
    )
    assert run(["optimize", "CartPole-v1", "--out", "r", "--rounds", "1", *QUICK]) == 0
    config = load_config(folder / "r" / "config.toml")
    assert (config.budget.rounds, config.seed, config.candidates, config.episodes) == (1, 6, 2, 1)
    assert config.task.env_kwargs == {"sutton_barto_reward": True}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[optimize]\nroundz = 1", ["optimize has no flag 'roundz'", "rounds"]),
        ("[optimise]\nrounds = 1", ["no command 'optimise'", "optimize"]),
        ("rounds = 1", ["no command 'rounds'"]),
        ('[optimize]\nrounds = "many"', ["--rounds", "whole number"]),
        ("[optimize", ["cannot read"]),
        ("[optimize]\nenv-id = 'CartPole-v1'", ["no flag 'env-id'"]),
    ],
)
def test_mistakes_in_the_file_get_one_sentence(
    folder: Any, capsys: pytest.CaptureFixture[str], text: str, words: Any
) -> None:
    """The sentence names the file or the flag, and the exit code is 2."""
    (folder / "promptpo.toml").write_text(text)
    assert run(["optimize", "CartPole-v1", *QUICK]) == 2
    err = capsys.readouterr().err
    assert all(word in err for word in words), err
    assert not (folder / "runs").exists()


def test_commands_of_other_packages_have_defaults_too(
    folder: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """The benchmark reads its own table and refuses unknown names."""
    (folder / "promptpo.toml").write_text('[benchmark]\nmethods = "random"\njobs = 0\n')
    assert run(["benchmark", "list"]) == 2
    assert "--jobs" in capsys.readouterr().err
    (folder / "promptpo.toml").write_text('[benchmark]\nmethod = "random"\n')
    assert run(["benchmark", "list"]) == 2
    assert "benchmark has no flag 'method'; did you mean methods?" in capsys.readouterr().err


def test_other_tables_in_pyproject_are_ignored(folder: Any, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "pyproject.toml").write_text('[tool.other]\nrounds = "many"\n')
    assert run(["show", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("promptpo op", "optimize"),
        ("promptpo optimize CartPole-v", "CartPole-v1"),
        ("promptpo show runs/", "runs/one"),
    ],
)
def test_completion(folder: Any, words: str, expected: str) -> None:
    """Commands, environment ids and run directories are completed."""
    (folder / "runs" / "one").mkdir(parents=True)
    (folder / "runs" / "one" / "config.toml").touch()
    variables = {
        "_PROMPTPO_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
        "PYTHONPATH": str(ROOT),
    }
    done = run_command([], cwd=folder, environment={**os.environ, **variables})
    assert expected in done.stdout.split()


COMMANDS = ("optimize", "resume", "export", "evaluate", "play", "show", "report", "spec", "track", "doctor")
PRINT_HELP = """
import sys
from promptpo.cli.app import app, run
from promptpo.cli.defaults import read_defaults
for command in sys.argv[1:]:
    print("=====")
    run([command, "--help"])
    print(sorted({"gymnasium", "numpy", "jinja2", "openai"} & set(sys.modules)))
"""


def test_help_is_quick_and_has_examples() -> None:
    """Every command describes itself, ends with an example and loads nothing heavy to do so."""
    done = subprocess.run(
        [sys.executable, "-c", PRINT_HELP, *COMMANDS],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
        cwd=ROOT,
    )
    texts = done.stdout.split("=====\n")[1:]
    assert len(texts) == len(COMMANDS)
    for command, text in zip(COMMANDS, texts, strict=True):
        assert f" {command} " in text
        assert f"Example: promptpo {command}" in " ".join(text.split())
        assert text.splitlines()[-1] == "[]"


def test_version_is_the_same_everywhere() -> None:
    """The package, the command and the build agree."""
    import promptpo

    data = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert data["tool"]["hatch"]["version"]["path"] == "promptpo/version.py"
    done = subprocess.run(
        [sys.executable, "-m", "promptpo", "--version"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == f"promptpo {promptpo.__version__}\n"


def test_a_command_that_cannot_be_imported_keeps_no_other_from_running(folder: Path) -> None:
    """What is written for it is left alone, since nothing says which flags it has."""
    (folder / "promptpo.toml").write_text("[broken]\nsteps = 1\n[show]\njson = true\n")
    commands = typer.main.get_command(app)
    context = typer.Context(commands)
    found = read_defaults(
        folder,
        lambda: ["broken", "show"],
        lambda name: commands.get_command(context, name) if name == "show" else None,
    )
    assert found == {"show": {"as_json": True}}
