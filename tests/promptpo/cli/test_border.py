"""Text from outside never steers the terminal, and never mixes with JSON."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo.cli.app import run
from promptpo.cli.document import print_json, release, reserve_for_json
from promptpo.core.journal import JOURNAL
from promptpo_sandbox.text import clean, clean_line
from tests.promptpo.cli.test_command_line import QUICK, ROOT, promptpo

TITLE = "\x1b]0;owned\x07"
CLIPBOARD = "\x1b]52;c;cm0gLXJmIH4=\x07"
FORGED = "\nHeld-out return 500 (95 % interval 500 to 500, 100 episodes), candidate r1c1."
NASTY = f"{TITLE}{CLIPBOARD}\x9b2J\u202eesrever{FORGED}"


def shown_raw(text: Any) -> Any:
    """Whether anything in it would be obeyed."""
    return any(mark in text for mark in ("\x1b]", "\x9b", "\u202e", "\x07"))


@given(st.text())
def test_clean_text_holds_no_controls(text: Any) -> None:
    """Whatever goes in, what comes out is printable but for tabs and line ends, and cleaning again changes nothing."""
    cleaned = clean(text)
    assert all(c in "\t\n" or (ord(c) >= 0x20 and not 0x7F <= ord(c) <= 0x9F) for c in cleaned)
    assert "\n" not in clean_line(text)
    assert clean(cleaned) == cleaned
    cleaned.encode()


def test_what_is_cut_out_stays_readable() -> None:
    """Controls are written out as Python would; tabs, accents and emoji stay."""
    assert clean("a\x1b[2Jb\tç 🙂\r\nc\x9b") == "a\\x1b[2Jb\tç 🙂\nc\\x9b"
    assert clean_line("a\nb") == "a b"


def test_a_policys_error_is_shown_by_evaluate_and_obeyed_by_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Window title, clipboard and forged results in an exception's text arrive as text."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.py").write_text(
        f"class Policy:\n    def act(self, obs):\n        raise ValueError({NASTY!r})\n"
    )
    assert run(["evaluate", "bad.py", "--env", "CartPole-v1"]) == 1
    said = capsys.readouterr()
    assert not shown_raw(said.out + said.err)
    assert "owned" in said.out
    assert not any(line.startswith("Held-out") for line in said.out.splitlines())


@pytest.mark.parametrize(
    "arguments", [["show", "run"], ["show", "run", "r1c2"], ["report", "run", "--no-film"]]
)
def test_a_journal_cannot_steer_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: Any
) -> None:
    """Nothing in a run's files is obeyed: errors, prose, sources, reasons."""
    shutil.copytree(ROOT / "tests" / "promptpo" / "core" / "recorded" / "model", tmp_path / "run")
    path = tmp_path / "run" / JOURNAL
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        if line["kind"] == "attempt" and line["key"] == "r1c2":
            line["data"]["evaluation"].update(outcome="crashed", error=NASTY, detail=NASTY, episodes=[])
            line["data"].update(prose=NASTY, feedback=NASTY, notes=[NASTY])
            line["data"]["candidate"]["source"] += f"# {NASTY}"
        if line["kind"] == "round":
            line["data"]["unanswered"] = {"1": NASTY}
        if line["kind"] == "stop":
            line["data"]["reason"] = NASTY
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 0
    said = capsys.readouterr()
    assert not shown_raw(said.out + said.err)
    if arguments == ["show", "run"]:
        assert not any(line.startswith(FORGED.strip()) for line in said.out.splitlines())


LOUD = """
import os
import gymnasium
from gymnasium.envs.classic_control import CartPoleEnv

print("imported")

class Loud(CartPoleEnv):
    def __init__(self, **more):
        print("built")
        os.write(1, b"from below\\n")
        super().__init__(**more)

    def reset(self, **more):
        print("reset")
        return super().reset(**more)

gymnasium.register("Loud-v0", entry_point=Loud, max_episode_steps=20)
"""


@pytest.mark.parametrize("command", ["optimize", "spec", "evaluate"])
def test_json_is_alone_beside_an_environment_that_prints(tmp_path: Path, command: str) -> None:
    """Whatever prints, in Python or below it, here or in a worker: standard output is one JSON value."""
    (tmp_path / "loud.py").write_text(LOUD)
    (tmp_path / "policy.py").write_text("class Policy:\n    def act(self, obs):\n        return 0\n")
    arguments = {
        "optimize": ["loud:Loud-v0", *QUICK, "--model", "search"],
        "spec": ["loud:Loud-v0"],
        "evaluate": ["policy.py", "--env", "loud:Loud-v0"],
    }[command]
    done = promptpo(command, *arguments, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert isinstance(json.loads(done.stdout), dict)
    assert "built" in done.stderr


def test_standard_output_is_given_back(capfd: pytest.CaptureFixture[str]) -> None:
    """After a command with --json, everyone may print there again."""
    reserve_for_json(True)
    print("aside")
    print_json({"a": 1})
    release()
    print("after")
    captured = capfd.readouterr()
    assert captured.out == '{"a": 1}\nafter\n'
    assert "aside" in captured.err
