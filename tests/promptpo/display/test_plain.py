"""Progress outside a terminal: a slow model does not look like a silent one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from promptpo.cli.app import run
from promptpo.core.candidate import Attempt, Candidate
from promptpo.display import terminal
from promptpo.display.terminal import PlainDisplay
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from tests.promptpo.llm.wire_server import Reply, WireServer
from tests.promptpo.policies import GOOD

SHORT = ["--rounds", "1", "-n", "1", "--episodes", "1", "--validation-episodes", "1", "--test-episodes", "1", "--max-steps", "1000",
         "--option", "probe=false", "--tune", "none", "--no-film", "--no-check"]  # fmt: skip


@pytest.fixture
def server() -> Iterator[WireServer]:
    """A server that writes its answer slowly."""
    server = WireServer()
    server.otherwise = Reply(GOOD, pause=0.05)
    yield server
    server.close()


@pytest.mark.slow
@pytest.mark.parametrize("between", [0.0, 60.0])
def test_arriving_characters_are_reported(
    server: WireServer, tmp_path: Path, capsys: Any, monkeypatch: Any, between: float
) -> None:
    """A line says when an answer begins to arrive; then one a minute has the characters so far."""
    monkeypatch.setattr(terminal, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(terminal, "TELL_SECONDS", between)
    address = ["--model", "openai:slow", "--base-url", f"{server.address}/v1"]
    assert run(["optimize", "CartPole-v1", *address, *SHORT, "--out", str(tmp_path / "run")]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if "the model is writing" in line]
    counts = [int(line.split(":")[1].split()[0].replace(",", "")) for line in lines]
    assert 0 < min(counts) <= max(counts) <= len(GOOD)
    assert len(set(counts)) > 2 if between == 0 else len(counts) == len(server.seen)


def test_quick_answers_get_no_line(server: WireServer, tmp_path: Path, capsys: Any) -> None:
    """An answer that is complete before the first poll is not reported as arriving."""
    server.otherwise = Reply(GOOD)
    address = ["--model", "openai:quick", "--base-url", f"{server.address}/v1"]
    assert run(["optimize", "CartPole-v1", *address, *SHORT, "--out", str(tmp_path / "run")]) == 0
    assert "is writing" not in capsys.readouterr().err


def test_program_that_arrived_before_is_named_instead_of_its_return() -> None:
    """Failed answers without a program have no digest, and are never the same."""
    played = Evaluation("ok", (EpisodeRecord(1, 9.0, 9),), 9)
    first, again = (Attempt(Candidate(f"r1c{n}", "", 1, digest="a"), played) for n in (2, 1))
    bare = [Attempt(Candidate(f"r1c{n}", "", 1), played) for n in (3, 4)]
    display = PlainDisplay()
    arrived: list[Attempt] = []
    lines: list[str] = []
    for attempt in (first, again, *bare):
        arrived.append(attempt)
        lines += display._describe_attempt(attempt, arrived)
    assert lines == [
        "  r1c2: mean return 9",
        "  r1c1: the same program as r1c2",
        "  r1c3: mean return 9",
        "  r1c4: mean return 9",
    ]
