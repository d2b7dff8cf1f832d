"""The journal: nothing relied on is lost, whatever happens to the last line."""

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
def test_values_survive_the_trip_through_json(attempt: Any) -> None:
    """What is written to the journal is what is read, infinities and odd characters included."""
    assert from_json(Attempt, json.loads(json.dumps(to_json(attempt)))) == attempt


def test_nan_survives_the_trip_through_json() -> None:
    """A NaN return stays a NaN; it must not become null and then an error."""
    record = EpisodeRecord(seed=1, return_=float("nan"), steps=2)
    again = from_json(EpisodeRecord, json.loads(json.dumps(to_json(record))))
    assert again.return_ != again.return_


@settings(max_examples=30, deadline=None)
@given(lines=st.lists(texts, min_size=1, max_size=5), where=st.floats(0, 1))
def test_a_journal_cut_anywhere_keeps_its_whole_lines(
    tmp_path_factory: pytest.TempPathFactory, lines: Any, where: Any
) -> None:
    """Whatever byte a kill stops at, the whole lines before it are read and writing goes on."""
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


def test_damage_in_the_middle_is_refused(tmp_path: Path) -> None:
    """A broken line that is not the last is told, with its number, and not silently dropped."""
    with Journal(tmp_path) as journal:
        for n in range(3):
            journal.add("prompt", str(n), {})
    lines = (tmp_path / JOURNAL).read_bytes().splitlines(keepends=True)
    (tmp_path / JOURNAL).write_bytes(lines[0] + b"{}\n" + lines[2])
    with pytest.raises(RunError, match="line 2"):
        Journal(tmp_path)


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    """Two processes never write one run."""
    with Journal(tmp_path), pytest.raises(RunError, match="another promptpo process"):
        Journal(tmp_path)
    Journal(tmp_path).close()


def test_a_key_is_used_once(tmp_path: Path) -> None:
    """Adding the same kind and key twice is a mistake of ours, not a silent overwrite."""
    with Journal(tmp_path) as journal:
        journal.add("stop", "0", {})
        with pytest.raises(ValueError, match="already"):
            journal.add("stop", "0", {})


def test_a_full_disk_is_told_and_leaves_whole_lines(tmp_path: Path) -> None:
    """When the system takes only half a line, the half is cut off and the error says how to go on."""
    import resource

    def write_until_full(directory: Path, told: Any) -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        journal = Journal(directory)
        try:
            for n in range(1000):
                journal.add("prompt", str(n), {"text": "x" * 300})
        except RunError as error:
            told.send(str(error))

    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=write_until_full, args=(tmp_path, theirs))
    process.start()
    assert ours.poll(20)
    assert "promptpo resume" in ours.recv()
    process.join()
    assert (tmp_path / JOURNAL).read_bytes().endswith(b"}\n")
    assert len(read_events(tmp_path / JOURNAL)) >= 10


def test_an_event_is_on_disk_when_add_returns(tmp_path: Path) -> None:
    """A process killed right after `add` has lost nothing."""

    def write_and_die(directory: Path) -> None:
        Journal(directory).add("completion", "r1.c1", {"text": "paid for"})
        os.kill(os.getpid(), signal.SIGKILL)

    process = multiprocessing.get_context("fork").Process(target=write_and_die, args=(tmp_path,))
    process.start()
    process.join()
    assert read_events(tmp_path / JOURNAL)[0].data == {"text": "paid for"}


def test_a_damaged_journal_is_not_left_locked(tmp_path: Path) -> None:
    """After the refusal the same process can open it again, once a copy is put back."""
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
