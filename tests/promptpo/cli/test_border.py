"""Untrusted text cannot control the terminal and does not mix with JSON output."""

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


def has_control_sequences(text: Any) -> Any:
    """Return whether the text contains control characters that a terminal would obey."""
    return any(mark in text for mark in ("\x1b]", "\x9b", "\u202e", "\x07"))


@given(st.text())
def test_clean_text_holds_no_controls(text: Any) -> None:
    """Cleaning keeps tabs and line ends only, and is idempotent."""
    cleaned = clean(text)
    assert all(c in "\t\n" or (ord(c) >= 0x20 and not 0x7F <= ord(c) <= 0x9F) for c in cleaned)
    assert "\n" not in clean_line(text)
    assert clean(cleaned) == cleaned
    cleaned.encode()


def test_cleaning_escapes_controls_as_python_does() -> None:
    """Tabs, accents and emoji stay."""
    assert clean("a\x1b[2Jb\tç 🙂\r\nc\x9b") == "a\\x1b[2Jb\tç 🙂\nc\\x9b"
    assert clean_line("a\nb") == "a b"


def test_evaluate_escapes_a_policys_error_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Window titles, clipboard writes and forged results in an exception are printed as plain text."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.py").write_text(
        f"class Policy:\n    def act(self, obs):\n        raise ValueError({NASTY!r})\n"
    )
    assert run(["evaluate", "bad.py", "--env", "CartPole-v1"]) == 1
    captured = capsys.readouterr()
    assert not has_control_sequences(captured.out + captured.err)
    assert "owned" in captured.out
    assert not any(line.startswith("Held-out") for line in captured.out.splitlines())


@pytest.mark.parametrize(
    "arguments", [["show", "run"], ["show", "run", "r1c2"], ["report", "run", "--no-film"]]
)
def test_a_journal_cannot_steer_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: Any
) -> None:
    """Errors, prose, sources and reasons in a run's files are all escaped."""
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
    captured = capsys.readouterr()
    assert not has_control_sequences(captured.out + captured.err)
    if arguments == ["show", "run"]:
        assert not any(line.startswith(FORGED.strip()) for line in captured.out.splitlines())


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
def test_json_output_excludes_what_the_environment_prints(tmp_path: Path, command: str) -> None:
    """Standard output is one JSON value, whether Python or C code prints, in this process or in a worker."""
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


def test_standard_output_is_restored_after_json(capfd: pytest.CaptureFixture[str]) -> None:
    reserve_for_json(True)
    print("aside")
    print_json({"a": 1})
    release()
    print("after")
    captured = capfd.readouterr()
    assert captured.out == '{"a": 1}\nafter\n'
    assert "aside" in captured.err
