"""kill -9 at any instant loses nothing that was paid for, and the run ends as if nothing had happened."""

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from promptpo.journal import JOURNAL, read_events

ROOT = Path(__file__).parents[2]


def start(run, calls, kill_at=-1):
    """One process's work on the run."""
    command = [sys.executable, "-m", "tests.promptpo.killable", str(run), str(calls), str(kill_at)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def finish(run, calls, kill_at=-1):
    """Let a process work until it ends or kills itself; returns its exit code."""
    process = start(run, calls, kill_at)
    _, errors = process.communicate(timeout=100)
    assert process.returncode in {0, -signal.SIGKILL}, errors
    return process.returncode


def essence(run):
    """What of a result must not depend on interruptions."""
    result = json.loads((run / "result.json").read_text())
    kept = ("best", "train", "validation", "test", "steps", "rounds", "candidates", "stop_reason")
    return {name: result[name] for name in kept} | {"calls": result["llm"]["calls"]}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The run that nobody interrupts, and its number of events."""
    folder = tmp_path_factory.mktemp("undisturbed")
    assert finish(folder / "run", folder / "calls") == 0
    return essence(folder / "run"), len(read_events(folder / "run" / JOURNAL))


def check(folder, expected):
    """The run ended like the undisturbed one, and no answered call was made again."""
    assert essence(folder / "run") == expected
    answered = [event.key for event in read_events(folder / "run" / JOURNAL) if event.kind == "completion"]
    assert len(answered) == len(set(answered))


def test_killed_once_in_the_middle(tmp_path, undisturbed):
    """A kill in the middle of round 1: the answered calls are not made again."""
    expected, events = undisturbed
    assert finish(tmp_path / "run", tmp_path / "calls", kill_at=events // 3) == -signal.SIGKILL
    assert finish(tmp_path / "run", tmp_path / "calls") == 0
    check(tmp_path, expected)
    assert max(Counter((tmp_path / "calls").read_text().split()).values()) == 1


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_killed_at_every_event(tmp_path, undisturbed):
    """Every kind of event is followed by a kill; each run is then finished by one more process."""
    expected, events = undisturbed
    for n in range(1, events + 1):
        folder = tmp_path / str(n)
        folder.mkdir()
        finish(folder / "run", folder / "calls", kill_at=n)
        assert finish(folder / "run", folder / "calls") == 0
        check(folder, expected)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_two_hundred_kills_at_random_instants(tmp_path, undisturbed):
    """Kills that fall anywhere, also into a write: runs are killed again and again until they end."""
    expected, _ = undisturbed
    dice = random.Random(7)
    kills = run = 0
    while kills < 200:
        run += 1
        folder = tmp_path / str(run)
        folder.mkdir()
        while True:
            process = start(folder / "run", folder / "calls")
            deadline = time.monotonic() + dice.uniform(0.4, 1.6)
            while process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.005)
            if process.poll() is None:
                process.kill()
                kills += 1
            _, errors = process.communicate()
            if process.returncode == 0:
                break
            assert process.returncode == -signal.SIGKILL, errors
        check(folder, expected)
