"""Recorded answers of a real model give their known returns."""

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
    answer = extract_program((RECORDINGS / entry["file"]).read_text())
    assert answer.problem is None
    assert "class Policy" in answer.source


@pytest.mark.slow
@pytest.mark.parametrize(("env_id", "at_least"), [("CartPole-v1", 495.0), ("Taxi-v4", 7.0)])
def test_replayed_run_gives_the_known_return(tmp_path: Path, env_id: str, at_least: float) -> None:
    """Of the better of two policies, within noise."""
    answers = [path.read_text() for path in sorted((RECORDINGS / env_id).glob("*.md"))]
    recording = tmp_path / "answers.jsonl"
    recording.write_text("".join(json.dumps({"text": answer}) + "\n" for answer in answers))
    run = promptpo.optimize(
        env_id,
        model=f"replay:{recording}",
        out=tmp_path / "run",
        rounds=1,
        candidates=2,
        episodes=5,
        validation_episodes=8,
        test_episodes=6,
        tune="none",
        stop_at=1e9,
        recipe_options={"feedback_class": False},
        max_steps=10_000,
    )
    assert run.mean_return >= at_least


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "env_id", "env_kwargs", "at_least", "episodes"),
    [
        ("MountainCarContinuous-v0", "MountainCarContinuous-v0", {}, 90.0, 10),
        ("Acrobot-v1", "Acrobot-v1", {}, -100.0, 10),
        ("Pendulum-v1", "Pendulum-v1", {}, -250.0, 4),
        ("CliffWalking-v1", "CliffWalking-v1", {}, -13.5, 2),
        ("FrozenLake-v1-8x8", "FrozenLake-v1", {"map_name": "8x8"}, 0.25, 40),
        ("Blackjack-v1", "Blackjack-v1", {}, -0.35, 100),
        ("LunarLander-v3-continuous", "LunarLander-v3", {"continuous": True}, 200.0, 6),
        ("MiniGrid-DoorKey-8x8-v0", "MiniGrid-DoorKey-8x8-v0", {}, 0.9, 6),
        ("reach-v3", "reach-v3", {}, 1000.0, 2),
    ],
)
def test_recorded_policies_give_the_known_return(
    tmp_path: Path, folder: str, env_id: str, env_kwargs: Any, at_least: float, episodes: int
) -> None:
    """The better of two, also in environments of extras and in noisy ones."""
    returns = []
    for answer in sorted((RECORDINGS / folder).glob("*.md")):
        policy = tmp_path / f"{answer.stem}.py"
        policy.write_text(str(extract_program(answer.read_text()).source))
        played = promptpo.evaluate(policy, env_id, env_kwargs=env_kwargs, episodes=episodes)
        returns.append(played.evaluation.mean_return)
    assert max(returns) >= at_least
