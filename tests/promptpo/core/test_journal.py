"""The journal loses nothing that it acknowledged, whatever happens to its last line."""

import json
import multiprocessing
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptpo.core.candidate import Attempt, Candidate
from promptpo.core.journal import JOURNAL, Journal, from_json, read_events, to_json
from promptpo.errors import RunError
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation

texts = st.text(max_size=50)
episodes = st.builds(
    EpisodeRecord,
    seed=st.integers(0, 2**31),
    return_=st.floats(allow_nan=False),
    steps=st.integers(0, 10**6),
    success=st.none() | st.booleans(),
)
evaluations = st.builds(
    Evaluation,
    outcome=st.sampled_from(["ok", "crashed", "timeout"]),
    episodes=st.lists(episodes, max_size=3).map(tuple),
    steps=st.integers(0, 10**6),
    error=texts,
    failed_at=st.none() | st.tuples(st.none() | st.integers(0, 9), st.none() | st.integers(0, 9)),
)
attempts = st.builds(
    Attempt,
    candidate=st.builds(
        Candidate,
        id=texts,
        source=texts,
        round=st.integers(1, 99),
        tuned=st.dictionaries(
            texts, st.tuples(st.floats(allow_nan=False), st.floats(allow_nan=False)), max_size=2
        ),
    ),
    evaluation=evaluations,
    feedback=texts,
    notes=st.lists(texts, max_size=2).map(tuple),
)


@given(attempts)
def test_values_round_trip_through_json(attempt: Any) -> None:
    assert from_json(Attempt, json.loads(json.dumps(to_json(attempt)))) == attempt


def test_nan_round_trips_through_json() -> None:
    """It must not become null."""
    record = EpisodeRecord(seed=1, return_=float("nan"), steps=2)
    again = from_json(EpisodeRecord, json.loads(json.dumps(to_json(record))))
    assert again.return_ != again.return_


@settings(max_examples=30, deadline=None)
@given(lines=st.lists(texts, min_size=1, max_size=5), where=st.floats(0, 1))
def test_truncated_journal_keeps_its_whole_lines(
    tmp_path_factory: pytest.TempPathFactory, lines: Any, where: Any
) -> None:
    """A kill may stop a write at any byte; writing then continues."""
    directory = tmp_path_factory.mktemp("run")
    with Journal(directory) as journal:
        for n, text in enumerate(lines):
            journal.add("prompt", str(n), {"text": text})
    raw = (directory / JOURNAL).read_bytes()
    cut = round(where * len(raw))
    (directory / JOURNAL).write_bytes(raw[:cut])
    whole = raw[:cut].count(b"\n")
    assert len(read_events(directory / JOURNAL)) == whole
    with Journal(directory) as journal:
        journal.add("stop", "0", {"reason": "test"})
    assert [event.n for event in read_events(directory / JOURNAL)] == list(range(whole + 1))


def test_damage_before_the_last_line_is_an_error(tmp_path: Path) -> None:
    """The error names the line."""
    with Journal(tmp_path) as journal:
        for n in range(3):
            journal.add("prompt", str(n), {})
    lines = (tmp_path / JOURNAL).read_bytes().splitlines(keepends=True)
    (tmp_path / JOURNAL).write_bytes(lines[0] + b"{}\n" + lines[2])
    with pytest.raises(RunError, match="line 2"):
        Journal(tmp_path)


def test_journal_is_locked_by_one_process(tmp_path: Path) -> None:
    with Journal(tmp_path), pytest.raises(RunError, match="another promptpo process"):
        Journal(tmp_path)
    Journal(tmp_path).close()


def test_adding_a_key_twice_is_an_error(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.add("stop", "0", {})
        with pytest.raises(ValueError, match="already"):
            journal.add("stop", "0", {})


def test_full_disk_leaves_whole_lines_and_a_clear_error(tmp_path: Path) -> None:
    """A half-written line is removed; the error says how to resume."""
    import resource

    def write_until_full(directory: Path, errors: Any) -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        journal = Journal(directory)
        try:
            for n in range(1000):
                journal.add("prompt", str(n), {"text": "x" * 300})
        except RunError as error:
            errors.send(str(error))

    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=write_until_full, args=(tmp_path, theirs))
    process.start()
    assert ours.poll(20)
    assert "promptpo resume" in ours.recv()
    process.join()
    assert (tmp_path / JOURNAL).read_bytes().endswith(b"}\n")
    assert len(read_events(tmp_path / JOURNAL)) >= 10


def test_event_survives_a_kill_after_add(tmp_path: Path) -> None:

    def write_and_die(directory: Path) -> None:
        Journal(directory).add("completion", "r1.c1", {"text": "paid for"})
        os.kill(os.getpid(), signal.SIGKILL)

    process = multiprocessing.get_context("fork").Process(target=write_and_die, args=(tmp_path,))
    process.start()
    process.join()
    assert read_events(tmp_path / JOURNAL)[0].data == {"text": "paid for"}


def test_damaged_journal_is_not_left_locked(tmp_path: Path) -> None:
    """The same process can open it again once a backup is restored."""
    with Journal(tmp_path) as journal:
        journal.add("stop", "0", {"reason": "a"})
        journal.add("stop", "1", {"reason": "b"})
    whole = (tmp_path / JOURNAL).read_bytes()
    (tmp_path / JOURNAL).write_bytes(b"?" + whole)
    for _ in range(2):
        with pytest.raises(RunError, match="damaged at line 1"):
            Journal(tmp_path)
    (tmp_path / JOURNAL).write_bytes(whole)
    with Journal(tmp_path) as journal:
        assert len(journal.events) == 2
