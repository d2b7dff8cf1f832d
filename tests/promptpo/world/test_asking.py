"""What a language model is told when it is asked for a world model."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from gymnasium import spaces

from promptpo.search.modelling import MOST_SHOWN, RARE, Modeller, _cut
from promptpo.telling import prompting
from sandbox import Episode, Rollout, Trajectory


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
    rare = modeller(tmp_path, [prize, *usual])._rare()
    assert rare == [
        "step 50: obs 50, action 0 -> obs 51, reward -10",
        "step 100: obs 100, action 0 -> obs 101, reward 20, ended",
    ]
    varied = [episode(np.linspace(0, 1, 100).tolist(), terminated=False) for _ in range(4)]
    assert not modeller(tmp_path, varied)._rare()[RARE:]
    many = modeller(tmp_path, [episode([-1.0] * 10 + [5.0], terminated=True) for _ in range(40)])
    assert len(many._rare()) == RARE


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
        "source": "",
        "score": [],
        "mismatches": [],
        "lessons": [],
    }
    bare = prompting.render("world", **empty)
    assert "best model so far" not in bare
    assert "rarely" not in bare
    full = prompting.render(
        "world",
        **{**empty, "rare": ["step 9: ended"], "source": "x = 1", "score": ["worth 0.50 of 1", "obs: 1"]},
    )
    assert "What happened rarely:\n\nstep 9: ended" in full
    assert full.count("worth 0.50 of 1") == 1
    assert "- worth 0.50 of 1\n- obs: 1\n" in full
