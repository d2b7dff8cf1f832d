"""Answers on goals are read, and what is asked about has what a judge needs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from promptpo.features.goals.preferences import Preferences
from promptpo.features.goals.prompts import describe_episode, preferences_in, verdict_in
from promptpo_sandbox import Episode, Trajectory


def _episode(return_: float, **parts: float) -> Episode:
    return Episode(0, return_, 1, True, False, None, 0, 0.0, parts=parts)


def test_pairs_that_a_reward_orders_otherwise_are_told() -> None:
    """Each with both returns and their parts; a pair that it orders alike is not among them."""
    episodes = {"a": _episode(1.0, speed=1.0, spin=0.0), "b": _episode(5.0, speed=0.5, spin=4.5)}
    (line,) = Preferences.of([("a", "b")], ["first"], episodes).disagreements()
    assert "returns 1 and the other returns 5 (by parts: speed 1 and 0.5, spin 0 and 4.5)" in line
    assert Preferences.of([("a", "b")], ["second"], episodes).disagreements() == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ((True, True, True), "it distinguishes nothing"),
        ((False, False, False), "No policy succeeds yet"),
        ((False, False, True), "random 0 of 1, zero 0 of 1, policy 1 of 1."),
        ((None, None, None), ""),
    ],
)
def test_a_success_that_all_or_nothing_reaches_is_told(said: tuple[bool | None, ...], told: str) -> None:
    """With how often each policy succeeds; nothing where the reward says nothing of success."""
    episodes = {
        f"{name} 1": replace(_episode(1.0), success=success)
        for name, success in zip(("random", "zero", "policy"), said, strict=True)
    }
    known = Preferences.of([], [], episodes)
    assert told in " ".join(known.on_success())
    assert bool(known.on_success()) is bool(told)
    assert known.always_succeeds is (said == (True, True, True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PAIR 1: A\nPAIR 2: =\nPAIR 3: B", ["first", "equal", "second"]),
        ("**PAIR 1:** B\n- PAIR 3: A.", ["second", None, "first"]),
        ("PAIR 1: All of them\nPAIR 9: A", [None, None, None]),
        ("", [None, None, None]),
        ("PAIR 1: A\nI think again.\nPAIR 1: B", ["second", None, None]),
    ],
)
def test_preferences_are_read_from_answers(text: str, expected: list[str | None]) -> None:
    """The last line for a pair counts; what cannot be read is left out, never guessed."""
    assert preferences_in(text, 3) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("VERDICT: yes\nBECAUSE: it runs backwards.", ("yes", "it runs backwards.")),
        ("**VERDICT:** Partly\n**BECAUSE:** it falls", ("partly", "it falls")),
        ("It is fine.", (None, "")),
        ("VERDICT: yesterday", (None, "")),
    ],
)
def test_a_verdict_is_read_from_answers(text: str, expected: tuple[str | None, str]) -> None:
    """Only the three words count."""
    assert verdict_in(text) == expected


def test_an_episode_is_told_without_what_it_earned() -> None:
    """Numbers that were seen and done, by name, over the episode and in some steps."""
    import numpy as np

    seen = [np.array([float(i), 2.0]) for i in range(5)]
    episode = Episode(
        0, 99.5, 4, True, False, None, 0, 0.0, trajectory=Trajectory(seen, [0, 1, 1, 0], [99.5, 0, 0, 0])
    )
    text = describe_episode(episode, {"obs[0]": "position"})
    assert text.startswith("4 steps; the environment ended it.")
    assert "position|0|4|0|2|4" in text
    assert "99.5" not in text


def test_numbers_of_info_are_told_but_for_rewards() -> None:
    """Where the body was, which observations may not say; not its return, and nothing that some steps lack."""
    infos = [
        {"x_position": 0.5 * i, "reward_forward": 7.25, **({"late": 1.0} if i else {})} for i in range(4)
    ]
    seen = Trajectory([0.0] * 5, [0, 1, 1, 0], [1.0] * 4, (), infos)
    text = describe_episode(Episode(0, 4.0, 4, False, True, None, 0, 0.0, trajectory=seen), {}, horizon=100)
    assert "info x_position|0|1.5|0|0.75|1.5" in text
    assert "it was cut there, before its limit of 100 steps" in text
    assert "7.2" not in text
    assert "late" not in text


def test_rows_show_where_the_body_was_and_no_noise_of_rounding() -> None:
    """Of many numbers those that change are shown in single steps, numbers of info among them; 1e-16 is nought."""
    import numpy as np

    n = 60
    noise = np.random.default_rng(0).normal(size=(n + 1, 20)) * 1e-16
    seen = noise.copy()
    seen[:, 17] = np.linspace(0, 1, n + 1)
    infos = [{"x_position": -0.1 * i} for i in range(n)]
    text = describe_episode(
        Episode(0, 0.0, n, False, True, None, 0, 0.0, Trajectory(list(seen), [0] * n, [0.0] * n, (), infos)),
        {},
    )
    head = next(line for line in text.splitlines() if line.startswith("step|"))
    assert head.split("|")[1] == "info x_position"
    assert "obs[17]" in head
    assert "e-1" not in text
