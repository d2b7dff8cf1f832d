"""What a language model is told when it is asked for a world model."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from promptpo.search.modelling import MOST_SHOWN, Modeller, _cut
from promptpo.telling import prompting
from promptpo.world.mismatches import Mismatch, Transitions, worst
from promptpo.world.shown import RARE, coverage, rare, sparse
from promptpo.world.words import mismatches_in_words
from sandbox import Episode, Predictions, Recorded, Rollout, Trajectory


def modeller(tmp_path: Path, episodes: list[Episode]) -> Modeller:
    """One that knows some episodes, in its fitting part and in the held-out one."""
    spec: Any = SimpleNamespace(observation_space=spaces.Discrete(1000), action_space=spaces.Discrete(2))
    spender: Any = SimpleNamespace(journal=SimpleNamespace(directory=tmp_path), executor=None)
    made = Modeller(spec, spender, 100)
    made.experience.add([Rollout(tuple(episodes), None, 0, "", 0.0)])
    return made


def episode(rewards: list[float], *, terminated: bool) -> Episode:
    """Counts its steps."""
    seen = list(range(len(rewards) + 1))
    trajectory = Trajectory(seen, [0] * len(rewards), rewards)
    return Episode(
        0, sum(rewards), len(rewards), terminated=terminated, truncated=not terminated, success=None, clipped=0,
        policy_seconds=0.0, trajectory=trajectory,
    )  # fmt: skip


def test_what_happens_rarely_is_shown(tmp_path: Path) -> None:
    """Endings and seldom rewards stand apart, each kind in turn; where all rewards differ only endings do."""
    usual = [episode([-1.0] * 300, terminated=False) for _ in range(6)]
    prize = episode([-1.0] * 50 + [-10.0] + [-1.0] * 49 + [20.0], terminated=True)
    assert rare(modeller(tmp_path, [prize, *usual]).experience.fitting) == [
        "step 50: obs 50, action 0 -> obs 51, reward -10",
        "step 100: obs 100, action 0 -> obs 101, reward 20, ended",
    ]
    varied = [episode(np.linspace(0, 1, 100).tolist(), terminated=False) for _ in range(4)]
    assert not rare(modeller(tmp_path, varied).experience.fitting)[RARE:]
    many = modeller(tmp_path, [episode([-1.0] * 10 + [5.0], terminated=True) for _ in range(40)])
    assert len(rare(many.experience.fitting)) == RARE


def recorded(observations: Any, actions: Any, *, terminated: bool = False) -> Recorded:
    """An episode without rewards."""
    return Recorded(observations, actions, np.zeros(len(actions)), terminated)


def test_what_the_data_hold_little_of_is_told() -> None:
    """Seldom actions are named with their count, those never taken too; what was seen has a range."""
    actions = np.array([[0, 0], [1, 2]] * 100 + [[1, 0]])
    seen = np.linspace(-1, 3, 202, dtype=np.float32)[:, None]
    box = spaces.Box(-9, 9, (1,))
    lines = coverage([recorded(seen, actions, terminated=True)], box, spaces.MultiDiscrete([2, 3]))
    assert lines[0] == "201 steps in 1 episode, of which 1 ended before a time limit"
    assert (
        lines[1] == "actions: seldom taken: [0, 1] never, [0, 2] never, [1, 1] never, [1, 0] once (6 kinds)"
    )
    assert lines[2] == "seen: obs[0] -1 .. 3"
    moved = coverage(
        [recorded(seen, np.linspace(0, 1, 201, dtype=np.float32)[:, None])], box, spaces.Box(-1, 1, (1,))
    )
    assert moved[1] == "actions: 0 .. 1"
    assert not coverage([], box, spaces.Discrete(2))


def test_steps_unlike_all_others_are_shown() -> None:
    """A rare action and a region that was visited once are among the rows; neighbours in time are no company."""
    rng = np.random.default_rng(0)
    seen = rng.uniform(-1, 1, (301, 2)).astype(np.float32)
    seen[100:104] = np.array([[30, 0], [30, 0.1], [30, 0.2], [30, 0.3]])
    actions = np.zeros(300, int)
    actions[200] = 1
    rows = sparse([recorded(seen, actions)], spaces.Box(-50, 50, (2,)))
    assert 2 <= len(rows) <= 4
    assert sum("obs [30., " in row.split(" -> ")[0] for row in rows) == 1
    assert any(row.startswith("step 200:") for row in rows)


@pytest.mark.parametrize(
    ("action", "observation"),
    [
        ({"a": np.array([1.0]), "b": 2}, {"x": np.array([1.0], np.float32), "y": 3}),
        ((0, np.array([0.5])), {"x": np.array([2.0], np.float32), "y": 1}),
    ],
)
def test_composed_values_are_rows_too(action: Any, observation: Any) -> None:
    """Dictionaries and tuples of numbers are compared and covered like lists of them."""
    space = spaces.Dict({"x": spaces.Box(-9, 9, (1,)), "y": spaces.Discrete(5)})
    episodes = [recorded([observation] * 13, [action] * 12)]
    assert sparse(episodes, space) == []  # all are the same
    assert coverage(episodes, space, spaces.Discrete(300))[1].startswith("seen: obs['x'][0] ")


def found_worst(rewards: Any) -> tuple[Mismatch, ...]:
    """The rows for a model that is far off in every early step, a little off in one reward, and sees no ending."""
    seen = np.zeros((101, 1), np.float32)
    seen[:, 0] = np.arange(101)
    episodes = [Recorded(seen, np.zeros(100, int), rewards, terminated=n == 4) for n in range(5)]
    steps = Transitions.of(episodes, spaces.Box(-np.inf, np.inf, (1,)))
    guess = steps.after + 50.0 * (steps.at < 90)[:, None]
    silent = Predictions(guess, np.full(500, -1.0), np.zeros(500, bool))
    return worst(steps, guess, silent)


def test_rare_events_are_among_the_worst_predictions() -> None:
    """An ending and a seldom reward that the model misses are told, however far off it is elsewhere."""
    rewards = np.full(100, -1.0)
    rewards[95] = 5.0
    rows = found_worst(rewards)
    assert any(row.real[2] and not row.predicted[2] for row in rows)
    assert any(row.real[1] == 5.0 for row in rows)
    assert len(rows) == 6


def test_worst_predictions_are_told_with_what_led_to_them() -> None:
    """The steps before a mismatch stand beside it: what is hidden shows there; the first step has none."""
    rows = found_worst(np.full(100, -1.0))
    last = next(row for row in rows if row.real[2])
    assert [text.partition(":")[0] for text in last.before] == ["step 97", "step 98"]
    assert "(before it: step 97: obs [97.], action 0, reward -1; step 98:" in mismatches_in_words([last])[0]
    first = [row for row in rows if row.step == 0]
    assert first
    assert not first[0].before
    assert "before it" not in mismatches_in_words(first)[0]


def test_a_long_model_is_shown_in_part() -> None:
    """A table of counts is cut in its middle, at whole lines; what is short stays as it is."""
    assert _cut("x = 1\n") == "x = 1\n"
    lines = [f"row_{n} = {n}" for n in range(5000)]
    shown = _cut("\n".join(lines))
    assert len(shown) <= MOST_SHOWN + 60
    head, _, tail = shown.partition("# ... ")
    count = int(tail.split()[0])
    kept = head.strip().splitlines() + tail.splitlines()[1:]
    assert len(kept) + count == len(lines)
    assert kept[0] == lines[0]
    assert kept[-1] == lines[-1]
    assert set(kept) <= set(lines)


def test_a_request_without_a_model_says_nothing_of_one() -> None:
    """What is not there leaves no heading behind; what is stands once."""
    empty: dict[str, Any] = {
        "rows": ["step 0"],
        "rare": [],
        "sparse": [],
        "coverage": [],
        "source": "",
        "score": [],
        "mismatches": [],
        "lessons": [],
    }
    bare = prompting.render("world", **empty)
    assert "best model so far" not in bare
    assert "rarely" not in bare
    assert "cover" not in bare
    assert "Unlike" not in bare
    full = prompting.render(
        "world",
        **{
            **empty,
            "rare": ["step 9: ended"],
            "sparse": ["step 7"],
            "coverage": ["9 steps"],
            "source": "x = 1",
            "score": ["worth 0.50 of 1", "obs: 1"],
        },
    )
    assert "What happened rarely:\n\nstep 9: ended" in full
    assert "little of what happens there:\n\nstep 7\n" in full
    assert "What they cover:\n- 9 steps\n\nSome of them:\n\nstep 0\n" in full
    assert full.count("worth 0.50 of 1") == 1
    assert "- worth 0.50 of 1\n- obs: 1\n" in full
