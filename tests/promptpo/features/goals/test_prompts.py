"""Descriptions of episodes for the judge, who must not see rewards."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from promptpo.features.goals.prompts import describe_episode, preferences_in, verdict_in
from promptpo_sandbox import Episode, Trajectory


def test_description_has_tables_without_rewards() -> None:
    """One table summarises the episode, the other has some of its steps."""
    heights = [np.array([1.0 - 0.001 * t, 7.0]) for t in range(201)]
    infos = [{"reward_forward": 1.0 * t, "x_position": 2.0 * t} for t in range(200)]
    trajectory = Trajectory(heights, [0] * 200, [1.5] * 200, infos=infos)
    text = describe_episode(
        Episode(1, 300.0, 200, True, False, None, 0, 0.0, trajectory), {"obs[0]": "height"}, 500
    )
    head, steps = text.split("\n\n")
    assert head.splitlines()[0] == "200 steps; the environment ended it."
    assert "height|1|0.8|0.8|0.9|1" in head
    assert "info x_position|0|398|0|199|398" in head
    assert "reward" not in text
    assert "1.5" not in text
    assert [int(row.split("|")[0]) for row in steps.splitlines()[1:]][-6:] == [183, 191, 195, 197, 198, 199]


def test_description_quotes_texts() -> None:
    """A mission decides whether a goal is reached; texts that change are quoted from the first and the last observation."""
    observed = [{"mission": "go to the red ball", "news": f"day {t}", "place": t} for t in range(4)]
    text = describe_episode(
        Episode(1, 0.0, 3, True, False, None, 0, 0.0, Trajectory(observed, [0, 1, 0], [0.0] * 3)), {}
    )
    assert text.splitlines()[1:4] == ['mission: "go to the red ball"', 'news: "day 0"', 'news: "day 3"']


ANSWER_TEXTS = st.text("PAIR12:=-AB yesnopartly VERDICTBECAUSE*\n", max_size=120)


@given(ANSWER_TEXTS, st.integers(0, 3))
def test_any_answer_can_be_parsed(text: str, count: int) -> None:
    assert len(preferences_in(text, count)) == count
    verdict, why = verdict_in(text)
    assert verdict in {None, "yes", "partly", "no"}
    assert "\n" not in why


@given(st.lists(st.sampled_from("AB="), max_size=5), ANSWER_TEXTS)
def test_requested_lines_are_parsed_after_any_text(choices: list[str], before: str) -> None:
    lines = [f"PAIR {n}: {word}" for n, word in enumerate(choices, 1)]
    words = {"A": "first", "B": "second", "=": "equal"}
    text = "\n".join([before, *lines, "VERDICT: partly", "BECAUSE: it fell"])
    assert preferences_in(text, len(choices)) == [words[word] for word in choices]
