"""``--model inbox:DIR`` and ``promptpo inbox`` with real processes, one of them killed."""

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from promptpo.cli.app import run as command
from promptpo.llm.inbox import LOCK
from tests.promptpo.cli.test_command_line import ROOT, environment, promptpo
from tests.promptpo.optimizing import read_run
from tests.promptpo.policies import FEEDBACK, WEAK
from tests.waiting import wait_until

OPTIMIZE = [
    *(
        "optimize",
        "CartPole-v1",
        "--model",
        "inbox:box",
        "--out",
        "run",
        "--rounds",
        "2",
        "--candidates",
        "2",
    ),
    *("--episodes", "3", "--validation-episodes", "4", "--test-episodes", "5", "--no-film", "--tune", "none"),
    *("--jobs", "1", "--stop-at", "501", "--option", "probe=false"),
]

ANSWERER = f"""
import contextlib, io, json, pathlib, sys, time
from promptpo.cli import app, document

def inbox(*words):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = app.run(["inbox", "box", *words])
        document.release()
    return code, out.getvalue()

for _ in range(400):
    code, listed = inbox("--wait", "60", "--json")
    if code:
        time.sleep(0.1)  # the run has not made its inbox yet
        continue
    found = json.loads(listed)
    for item in found["waiting"]:
        assert "Policy" in pathlib.Path(item["question"]).read_text() or item["purpose"] == "feedback"
        text = {FEEDBACK!r} if item["purpose"] == "feedback" else {WEAK!r} + "<!-- " + item["call"] + " -->"
        if item["number"] % 2:
            sys.stdin = io.TextIOWrapper(io.BytesIO(text.encode()))
            assert inbox("--answer", str(item["number"]))[0] == 0
        else:
            pathlib.Path(item["answer"]).write_text(text)
    if not found["waiting"] and not found["run_alive"]:
        break
"""


def start(*arguments: Any, cwd: Any) -> Any:
    """Start Python with these arguments."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=cwd,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def list_inbox(folder: Any) -> Any:
    """Return the output of ``promptpo inbox --json`` from a process of its own."""
    done = promptpo("inbox", "box", "--json", cwd=folder)
    return json.loads(done.stdout) if done.returncode == 0 else {"waiting": [], "run_alive": False}


@pytest.mark.slow
def test_killed_run_resumes_with_the_same_questions(tmp_path: Path) -> None:
    """No question is asked twice."""
    asking = start("-m", "promptpo", *OPTIMIZE, cwd=tmp_path)
    wait_until((tmp_path / "box" / "0001.md").exists, asking)
    first = list_inbox(tmp_path)
    assert first["waiting"]
    assert first["run_alive"]
    asking.send_signal(signal.SIGKILL)
    asking.communicate()
    after = promptpo("inbox", "box", cwd=tmp_path)
    assert "box/0001.md" in after.stdout
    assert f"promptpo resume {tmp_path / 'run'}" in after.stdout

    answering = start("-c", ANSWERER, cwd=tmp_path)
    resumed = promptpo("resume", "run", "--no-film", cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    _, errors = answering.communicate(timeout=300)
    assert answering.returncode == 0, errors

    completions = {event.key: event.data["text"] for event in read_run(tmp_path / "run")["completion"]}
    assert set(completions) == {"feedback", "r1.c1", "r1.c2", "r2.c1", "r2.c2"}
    assert all(f"<!-- {key} -->" in text for key, text in completions.items() if key != "feedback")
    assert len(list((tmp_path / "box").glob("[0-9]*.answer.md"))) == len(completions)
    assert len(list((tmp_path / "box").glob("[0-9][0-9][0-9][0-9].md"))) == len(completions)
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert result["model"] == "inbox:box"
    assert result["llm"]["estimated_tokens"] > 0
    assert "out, estimated)" in promptpo("show", "run", cwd=tmp_path).stdout
    assert "no run is active" in promptpo("inbox", "box", cwd=tmp_path).stdout


@pytest.mark.slow
def test_time_limit_ends_the_wait(tmp_path: Path) -> None:
    """The run ends at its limit with a sentence, and its question stays open."""
    done = promptpo(*OPTIMIZE, "--max-seconds", "10", cwd=tmp_path)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "limit of 10 seconds" in done.stdout + done.stderr
    assert [item["call"] for item in list_inbox(tmp_path)["waiting"]] == ["feedback"]


@pytest.mark.parametrize("arguments", [["box"], ["box", "--answer", "1"], ["box", "--json"]])
def test_missing_inbox_is_reported(
    arguments: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", (ROOT / "LICENSE").open(encoding="utf-8"))
    assert command(["inbox", *arguments]) == 2
    assert "there is no inbox box" in capsys.readouterr().err


def write_question(box: Path, number: int) -> None:
    """Write a question as a run does."""
    (box / f"{number:04}.md").write_text("What now?")
    facts = {"run": "run", "call": f"r1.c{number}", "purpose": "policy", "digest": "", "asked": time.time()}
    (box / f".{number:04}.json").write_text(json.dumps(facts))


@pytest.mark.parametrize("inner", [".", "task/method/0"])
def test_waiting_ends_when_the_run_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], inner: str
) -> None:
    """The run may have ended before the call or lie in a subdirectory; without any run the wait lasts its full time."""
    monkeypatch.setattr("promptpo.cli.inbox_command.SILENCE_SECONDS", 0.1)
    monkeypatch.setattr("promptpo.cli.inbox_command.POLL_SECONDS", 0.05)
    (tmp_path / inner).mkdir(parents=True, exist_ok=True)
    (tmp_path / inner / LOCK).touch()
    started = time.monotonic()
    assert command(["inbox", str(tmp_path), "--wait", "60"]) == 0
    assert time.monotonic() - started < 20
    assert "no run is active" in capsys.readouterr().out
    (tmp_path / inner / LOCK).unlink()
    started = time.monotonic()
    assert command(["inbox", str(tmp_path), "--wait", "0.3"]) == 0
    assert time.monotonic() - started >= 0.3


@pytest.mark.slow
def test_questions_of_one_round_are_listed_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second question of a round is written a moment after the first."""
    monkeypatch.setattr("promptpo.cli.inbox_command.POLL_SECONDS", 0.5)
    write_question(tmp_path, 1)
    later = threading.Timer(0.2, write_question, [tmp_path, 2])
    later.start()
    assert command(["inbox", str(tmp_path), "--wait", "60", "--json"]) == 0
    later.join()
    assert [item["number"] for item in json.loads(capsys.readouterr().out)["waiting"]] == [1, 2]


def test_foreign_notes_are_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Valid questions beside them are still listed."""
    write_question(tmp_path, 1)
    facts = {"run": "r", "call": "c", "purpose": "p", "digest": "d", "asked": 1.0}
    odd: list[Any] = [{"asked": "x"}, {"run": ["r"]}, {"call": 5}, {"asked": float("nan")}, {"more": 1}]
    for number, change in enumerate(odd, 2):
        (tmp_path / f"{number:04}.md").write_text("?")
        (tmp_path / f".{number:04}.json").write_text(json.dumps({**facts, **change}))
    (tmp_path / "0099.md").symlink_to(ROOT / "LICENSE")
    (tmp_path / ".0099.json").write_text(json.dumps(facts))
    assert command(["inbox", str(tmp_path), "--json"]) == 0
    assert [item["number"] for item in json.loads(capsys.readouterr().out)["waiting"]] == [1]
