"""Answers that a model really wrote, replayed through the whole loop, give the returns that are known of them."""

import json
from pathlib import Path
from typing import Any

import pytest

import promptpo
from promptpo.program.answers import extract_program

RECORDINGS = Path(__file__).parents[1] / "recordings"
INDEX = [json.loads(line) for line in (RECORDINGS / "index.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("entry", INDEX, ids=lambda entry: entry["file"])
def test_every_recorded_answer_has_a_policy(entry: Any) -> None:
    """All 78 answers parse into a module with the class, and keep the prose around it."""
    answer = extract_program((RECORDINGS / entry["file"]).read_text())
    assert answer.problem is None
    assert "class Policy" in answer.source


def replay(folder: Any, env_id: Any, out: Any, **more: Any) -> Any:
    """One round of the recorded answers of one environment."""
    return promptpo.optimize(
        env_id,
        model=f"replay:{RECORDINGS / folder}",
        out=out,
        rounds=1,
        candidates=2,
        episodes=5,
        validation_episodes=8,
        test_episodes=more.pop("test_episodes", 6),
        tune="none",
        stop_at=1e9,
        recipe_options={"feedback_class": False},
        **more,
    )


@pytest.mark.parametrize(
    ("folder", "at_least"),
    [
        ("CartPole-v1", 495.0),
        pytest.param("MountainCarContinuous-v0", 90.0, marks=pytest.mark.slow),
        ("Taxi-v4", 7.0),
        pytest.param("Acrobot-v1", -100.0, marks=pytest.mark.slow),
        pytest.param("Pendulum-v1", -250.0, marks=pytest.mark.slow),
        pytest.param("CliffWalking-v1", -13.5, marks=pytest.mark.slow),
    ],
)
def test_recorded_policies_give_their_known_returns(tmp_path: Path, folder: str, at_least: float) -> None:
    """Within noise of what was measured when the answers were recorded (best of the two kept)."""
    # without a limit of its own, random actions walk along the cliff for thousands of steps
    longest = 200 if folder == "CliffWalking-v1" else None
    run = replay(folder, folder, tmp_path / "run", max_steps=10_000, max_episode_steps=longest)
    assert run.mean_return >= at_least


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("folder", "env_id", "env_kwargs", "at_least", "episodes", "steps"),
    [
        ("FrozenLake-v1-8x8", "FrozenLake-v1", {"map_name": "8x8"}, 0.25, 100, 20_000),
        ("Blackjack-v1", "Blackjack-v1", {}, -0.35, 100, 20_000),
        ("LunarLander-v3-continuous", "LunarLander-v3", {"continuous": True}, 200.0, 15, 20_000),
        ("MiniGrid-DoorKey-8x8-v0", "MiniGrid-DoorKey-8x8-v0", {}, 0.9, 15, 20_000),
        ("reach-v3", "reach-v3", {}, 1000.0, 6, 8_000),
    ],
)
def test_recorded_policies_with_more_packages(
    tmp_path: Path, folder: str, env_id: str, env_kwargs: Any, at_least: float, episodes: int, steps: int
) -> None:
    """The same for environments that come as extras, and for those whose returns are mostly chance."""
    run = replay(
        folder, env_id, tmp_path / "run", env_kwargs=env_kwargs, test_episodes=episodes, max_steps=steps
    )
    assert run.mean_return >= at_least
