"""Statistics over all test episodes, in sentences and one table."""

from __future__ import annotations

from promptpo.prompts.episode_statistics import all_episodes, summarize_references
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation


def _evaluation(rare: int = 2, of: int = 100) -> Evaluation:
    """Return an evaluation in which most episodes run backwards to the end and a few turn over early."""
    good = [
        EpisodeRecord(
            n, 2300.0 + n, 1000, False, False, True, 0, -2600.0, {"speed": 2300.0 + n, "turned": 0.0}
        )
        for n in range(of - rare)
    ]
    bad = [
        EpisodeRecord(
            1000 + n,
            -2800.0 - n,
            40 + n,
            False,
            True,
            False,
            0,
            5.0,
            {"speed": -1800.0, "turned": -1000.0 - n},
        )
        for n in range(rare)
    ]
    return Evaluation("ok", (*good, *bad), 98_000)


def test_rare_episodes_show_in_the_statistics() -> None:
    """Their ends, lengths and returns, and a reward part that is zero in all others."""
    text = all_episodes(_evaluation())
    assert "2 terminated, 98 reached the horizon" in text
    assert "took 40, 41 steps" in text
    assert "`success()` was true in 0 of 100." in text
    turned = next(line for line in text.splitlines() if line.startswith("its part turned|"))
    assert turned.split("|")[1:] == ["-1001", "0", "0", "0", "0", "98 of 100"]
    assert "the environment's own reward|-2600|" in text


def test_references_are_summarised_in_one_line_each() -> None:
    assert summarize_references({"zero": _evaluation(of=10), "none": Evaluation("ok", (), 0)}) == [
        "zero: returns 1283 on average; environment's own reward -2079; `success()` was true in 0%; 40 to 1000 steps"
    ]
    assert all_episodes(Evaluation("crashed", (), 0, error="it broke")) == ""
