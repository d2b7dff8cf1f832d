"""In which respect a program is to be improved."""

from types import SimpleNamespace
from typing import Any

import pytest

from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.records import Attempt, Candidate
from promptpo.search.history import History
from promptpo.search.respects import respects

COSTLY = SimpleNamespace(
    text="def reward(action):\n    forward = 1.0\n    ctrl_cost = (action ** 2).sum()\n    return forward - ctrl_cost\n"
)
FREE = SimpleNamespace(text="def reward(action):\n    return result.distance\n")


def heads(*episodes: Any, source: str = "pass", spec: Any = FREE) -> Any:
    """The respects that episodes of (return, steps, success) suggest, by their first word."""
    records = tuple(
        EpisodeRecord(n, float(r), steps, success) for n, (r, steps, success) in enumerate(episodes)
    )
    attempt = Attempt(Candidate("r1c1", source, 1), Evaluation("ok", records, 10))
    return [text.split(":")[0] for text in respects(History([attempt]), attempt, spec)]


@pytest.mark.parametrize(
    ("episodes", "found"),
    [
        ([(5, 10, None)] * 4, ["Level"]),
        ([(1, 10, True), (0, 10, False), (1, 10, True)], ["Success", "Robustness", "Level"]),
        ([(-10, 10, None), (-20, 20, None), (-30, 30, None)], ["Robustness", "Speed", "Level"]),
        ([(10, 10, None), (20, 20, None), (30, 30, None)], ["Robustness", "Lasting longer", "Level"]),
        ([(7, 10, None)], ["Level"]),
    ],
)
def test_the_evidence_suggests_the_respect(episodes: Any, found: Any) -> None:
    """Failures, bad starts, length where it is related to the return; the level always."""
    assert heads(*episodes) == found


def test_effort_is_a_respect_only_where_it_costs() -> None:
    """The reward of the spec says so."""
    assert heads((5, 10, None), spec=COSTLY) == ["Level", "Effort"]
    assert heads((5, 10, None), spec=None) == ["Level"]


def test_long_programs_are_to_become_simpler() -> None:
    """Half of the lines."""
    assert heads((5, 10, None), source="x = 1\n" * 1000)[-1] == "Simplicity"
