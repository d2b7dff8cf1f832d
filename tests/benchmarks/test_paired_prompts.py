"""Paired prompts: states from replayed runs, and the table of answers."""

import json
from pathlib import Path
from typing import Any

from promptpo_benchmarks.paired_prompts import RECORDINGS, beats, cut_recording, render_table, states, tasks


def row(env: str, version: str, earned: float | None, parent: float) -> dict[str, Any]:
    """Return one answer."""
    return {
        "env": env,
        "state": env,
        "version": version,
        "earned": earned,
        "parent_earned": parent,
        "characters": 9000,
    }


def test_failed_answer_loses_and_a_tie_counts_half() -> None:
    """Two failures are a tie."""
    assert [beats(2.0, 1.0), beats(None, -9.0), beats(1.0, 1.0), beats(None, None)] == [1.0, 0.0, 0.5, 0.5]


def test_table_counts_answers_by_version_and_pairs() -> None:
    """An answer without a partner is no pair."""
    rows = [
        row("A", "old", 1.0, 2.0),
        row("A", "new", 3.0, 2.0),
        row("B", "old", None, 0.0),
        row("B", "new", 0.0, 0.0),
    ]
    lines = render_table([*rows, row("C", "new", 5.0, 6.0)])
    assert lines[0] == "5 answers; 2 states of 2 environments answered twice"
    assert lines[1].startswith("old: beats its parent in 0% [0%, 0%] of 2; fails in 1;")
    assert lines[2].startswith("new: beats its parent in 50% [")
    assert lines[3] == "new beats old in 100% [100%, 100%] of 2"


def test_recorded_tasks_have_names_without_modules() -> None:
    assert tasks()["push-v3"]["env"] == "Meta-World/push-v3"
    assert tasks()["Glucose-v0"]["env"] == "promptpo_benchmarks.environments:promptpo/Glucose-v0"


def test_unanswered_prompts_of_candidates_are_states(tmp_path: Path) -> None:
    """Each with the best program at that time; repairs and other system prompts are left out."""

    def prompt(key: str, text: str, *answers: str, system: str = "policies") -> dict[str, Any]:
        messages = [{"role": "user", "content": c} for c in (text, *answers)]
        return {"kind": "prompt", "key": key, "data": {"system": system, "messages": messages}}

    def answer(key: str, digest: str) -> dict[str, Any]:
        return {"kind": "completion", "key": key, "data": {"prompt": digest}}

    candidate = {"id": "r1c1", "source": "class Policy: ..."}
    events = [
        *(prompt("a", "first"), answer("r1.c1", "a")),
        {"kind": "attempt", "key": "r1c1", "data": {"candidate": candidate}},
        {"kind": "round", "key": "r1", "data": {"best": "r1c1"}},
        *(prompt("b", "second"), answer("r2.c1", "b")),
        *(prompt("c", "second", "an answer", "repair it"), answer("r2.c1.repair1", "c")),
        {"kind": "round", "key": "r2", "data": {"best": "r1c1"}},
        *(prompt("d", "feedback", system="tools"), prompt("e", "third"), prompt("f", "another third")),
    ]
    (tmp_path / "journal.jsonl").write_text("".join(json.dumps(e) + "\n" for e in events), encoding="utf-8")
    collected = states(tmp_path)
    assert {key: row["text"].partition("\n\n")[2] for key, row in collected.items()} == {
        "r2.c1": "second",
        "r3.c1": "third",
        "r3.c2": "another third",
    }
    assert all(row["parent"] == "r1c1" for row in collected.values())


def test_recording_is_cut_after_a_round(tmp_path: Path) -> None:
    """Requests before the first round stay."""
    cut = cut_recording(RECORDINGS / "Swimmer-v5--promptpo--seed-0.jsonl.xz", 1, tmp_path / "cut.jsonl")
    events = [json.loads(line) for line in cut.read_text(encoding="utf-8").splitlines()]
    assert [event["key"] for event in events] == ["feedback", "probe", "r1.c1", "r1.c2"]
