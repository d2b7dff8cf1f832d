"""Parsing answers on goals, and describing episodes to the judge."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from promptpo.features.goals.preferences import Preferences
from promptpo.features.goals.prompts import describe_episode, preferences_in, verdict_in
from promptpo_sandbox import Episode, Trajectory


def _episode(return_: float, **parts: float) -> Episode:
    return Episode(0, return_, 1, True, False, None, 0, 0.0, parts=parts)


def test_disagreeing_pairs_are_described() -> None:
    """Both returns and their components are listed."""
    episodes = {"a": _episode(1.0, speed=1.0, spin=0.0), "b": _episode(5.0, speed=0.5, spin=4.5)}
    (line,) = Preferences.of([("a", "b")], ["first"], episodes).disagreements()
    assert "returns 1 and the other returns 5 (by parts: speed 1 and 0.5, spin 0 and 4.5)" in line
    assert Preferences.of([("a", "b")], ["second"], episodes).disagreements() == []


@pytest.mark.parametrize(
    ("successes", "words"),
    [
        ((True, True, True), "it distinguishes nothing"),
        ((False, False, False), "No policy succeeds yet"),
        ((False, False, True), "random 0 of 1, zero 0 of 1, policy 1 of 1."),
        ((None, None, None), ""),
    ],
)
def test_uninformative_success_is_described(successes: tuple[bool | None, ...], words: str) -> None:
    """Each policy's success rate is listed if the reward defines success."""
    episodes = {
        f"{name} 1": replace(_episode(1.0), success=success)
        for name, success in zip(("random", "zero", "policy"), successes, strict=True)
    }
    known = Preferences.of([], [], episodes)
    assert words in " ".join(known.on_success())
    assert bool(known.on_success()) is bool(words)
    assert known.always_succeeds is (successes == (True, True, True))


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
def test_preferences_are_parsed(text: str, expected: list[str | None]) -> None:
    """The last line for a pair counts; unreadable ones are left out, never guessed."""
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
def test_verdict_is_parsed(text: str, expected: tuple[str | None, str]) -> None:
    """Only yes, partly and no count."""
    assert verdict_in(text) == expected


def test_info_is_described_except_for_rewards() -> None:
    """Positions may be missing from observations; keys absent from some steps are left out."""
    infos = [
        {"x_position": 0.5 * i, "reward_forward": 7.25, **({"late": 1.0} if i else {})} for i in range(4)
    ]
    seen = Trajectory([0.0] * 5, [0, 1, 1, 0], [1.0] * 4, (), infos)
    text = describe_episode(Episode(0, 4.0, 4, False, True, None, 0, 0.0, trajectory=seen), {}, horizon=100)
    assert "info x_position|0|1.5|0|0.75|1.5" in text
    assert "it was cut there, before its limit of 100 steps" in text
    assert "7.2" not in text
    assert "late" not in text


def test_step_table_prefers_changing_numbers() -> None:
    """Info comes first, and rounding noise counts as constant."""
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
