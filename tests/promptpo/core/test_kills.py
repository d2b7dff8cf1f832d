"""SIGKILL at any instant loses no paid call, and the resumed run ends like an undisturbed one."""

import json
import multiprocessing
import random
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from promptpo.core.journal import JOURNAL, read_events
from tests.promptpo import killable
from tests.promptpo.warm import serving

CONTEXT = multiprocessing.get_context("forkserver")

KILLS = 6
"""Number of kills at random instants."""


def start(folder: Any, kill_at: int | str = -1, *, experiments: bool = False) -> Any:
    """Start a process that works on the run in a folder; its server has done all imports."""
    folder.mkdir(exist_ok=True)
    process = CONTEXT.Process(target=killable.work, args=(folder, kill_at, experiments, serving()))
    process.start()
    return process


def exit_code(process: Any, folder: Any) -> Any:
    """Return the exit code of a process that may have been killed, but not failed."""
    process.join(100)
    assert process.exitcode in {0, -signal.SIGKILL}, (folder / "errors").read_text()
    return process.exitcode


def finish(folder: Any, kill_at: int | str = -1, *, experiments: bool = False) -> Any:
    """Work until the process ends or kills itself; return its exit code."""
    return exit_code(start(folder, kill_at, experiments=experiments), folder)


def essence(run: Any) -> Any:
    """Return the parts of a result that must not depend on interruptions."""
    result = json.loads((run / "result.json").read_text())
    kept = ("best", "train", "validation", "test", "steps", "rounds", "candidates", "stop_reason")
    return {name: result[name] for name in kept} | {"calls": result["llm"]["calls"]}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The result of a run without interruptions, and its number of events."""
    folder = tmp_path_factory.mktemp("undisturbed")
    assert finish(folder) == 0
    return essence(folder / "run"), len(read_events(folder / "run" / JOURNAL))


def check(folder: Any, expected: Any) -> None:
    """Check that the run ended like the undisturbed one and repeated no answered call."""
    assert essence(folder / "run") == expected
    answered = [event.key for event in read_events(folder / "run" / JOURNAL) if event.kind == "completion"]
    assert len(answered) == len(set(answered))


def test_killed_once_in_the_middle(tmp_path: Path, undisturbed: Any) -> None:
    """Answered calls are not repeated."""
    expected, events = undisturbed
    assert finish(tmp_path, kill_at=events // 3) == -signal.SIGKILL
    assert finish(tmp_path) == 0
    check(tmp_path, expected)
    assert max(Counter((tmp_path / "calls").read_text().split()).values()) == 1


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_killed_after_every_few_events(tmp_path: Path, undisturbed: Any) -> None:
    """Each process adds at most two dozen events before it is killed."""
    expected, events = undisturbed
    dice, processes = random.Random(0), 1
    assert finish(tmp_path, kill_at=1) == -signal.SIGKILL
    while finish(tmp_path, kill_at=dice.randint(4, 24)) == -signal.SIGKILL:
        processes += 1
    assert processes >= events // 24
    check(tmp_path, expected)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_killed_around_experiments(tmp_path: Path) -> None:
    """Kills after an answer, an episode or a report repeat no request and no episode."""
    assert finish(tmp_path / "whole", experiments=True) == 0
    expected = essence(tmp_path / "whole" / "run")
    events = read_events(tmp_path / "whole" / "run" / JOURNAL)
    reports = {event.key: event.data["report"] for event in events if event.kind == "experiment"}
    assert set(reports) == {"p0.1", "p0.2", "p2.1"}
    assert all(reports.values())
    folder = tmp_path / "killed"
    for key in ("probe", "p0.1.0.10", "p0.1", "p2.1"):
        assert finish(folder, kill_at=key, experiments=True) == -signal.SIGKILL
    assert finish(folder, experiments=True) == 0
    check(folder, expected)
    again = read_events(folder / "run" / JOURNAL)
    assert {event.key: event.data["report"] for event in again if event.kind == "experiment"} == reports
    assert not list((folder / "run").glob("untold/p*"))


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_kills_at_random_instants(tmp_path: Path, undisturbed: Any) -> None:
    """Kills may fall into a write."""
    expected, _ = undisturbed
    began = time.monotonic()
    assert finish(tmp_path / "whole") == 0
    seconds = time.monotonic() - began
    dice = random.Random(0)
    kills = run = 0
    while kills < KILLS:
        run += 1
        folder = tmp_path / str(run)
        code = None
        while code != 0:
            process = start(folder)
            if kills < KILLS:
                process.join(dice.uniform(0.0, 1.2 * seconds))
                if process.is_alive():
                    process.kill()
                    kills += 1
            code = exit_code(process, folder)
        check(folder, expected)
