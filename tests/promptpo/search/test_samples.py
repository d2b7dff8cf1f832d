"""What a round's answers say together."""

import pytest

from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.records import Attempt, Candidate
from promptpo.search.history import History
from promptpo.search.samples import Ceiling, Sample, premature


@pytest.mark.parametrize(
    ("round_", "voices", "others", "returns", "threshold", "early"),
    [
        (1, 1, 1, (10.0, 10.2), None, True),
        (2, 1, 2, (10.0, 10.2), None, True),
        (2, 2, 1, (10.0, 10.2), None, False),
        (3, 1, 1, (10.0, 10.2), None, False),
        (2, 1, 0, (10.0, 10.2), None, False),
        (2, 1, 0, (10.0, 10.2), 12.0, True),
        (2, 1, 0, (10.0, 10.2), 10.0, False),
        (2, 1, 0, (10.0, 50.0), None, True),
        (3, 1, 0, (10.0, 50.0), 60.0, False),
    ],
)
def test_nobody_alone_ends_a_young_run(
    round_: int, voices: int, others: int, returns: tuple[float, ...], threshold: float | None, early: bool
) -> None:
    """Neither against others, nor where the best is below the threshold or far below a single episode."""
    played = tuple(EpisodeRecord(n, one, 10) for n, one in enumerate(returns))
    best = Attempt(Candidate("r1c1", "pass", 1), Evaluation("ok", played, 20))
    samples: list[Sample] = [*[Ceiling("the body does no more")] * voices, *[best] * others]
    assert premature(History([best]), samples, round_, threshold) == early
