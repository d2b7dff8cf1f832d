"""Decision lists that are evolved by their returns."""

from typing import Any

import numpy as np
import pytest

from promptpo.program import Program
from promptpo.search.programs.genome import Genome
from promptpo.search.programs.library import structures_for, write_program
from promptpo.search.programs.rules import read_rules
from promptpo.search.references import random_policy
from promptpo.search.tuning import Start, Tuned, Tuning
from sandbox import Sandbox, Trial
from tests.promptpo.search.programs.worlds import Courier, Lift, Room
from tests.promptpo.search.tuning.conftest import run_tuner


def agent(env: Any) -> Start:
    """What program search writes first for a task of flags and places."""
    assert Genome("agent") in structures_for(env.observation_space, env.action_space)
    source = write_program(Genome("agent"), env.observation_space, env.action_space)
    return Start("c1", Program(source), float("nan"), (), env.observation_space)


def seeds(start: int, n: int) -> tuple[int, ...]:
    return tuple(range(start, start + n))


def evolved(envs: list[Any], steps: int, horizon: int) -> tuple[Tuned, float, float]:
    """A tuned agent, and the mean returns of it and of random actions on seeds that tuning never saw."""
    tuning = Tuning([agent(envs[0])], steps=steps, seeds=seeds, horizon=horizon, seed=0)
    with Sandbox(allow_weaker=True) as box:

        def returns(source: str) -> float:
            trials = [Trial(seed, None, horizon) for seed in range(9_000_000, 9_000_016)]
            return float(np.mean([e.return_ for e in box.rollout(source, envs, trials).episodes]))

        while tuning.batches:
            tuning.step(
                [
                    box.rollout(b.source, envs, list(b.trials), record=b.record, stop_on_failure=False)
                    for b in tuning.batches
                ]
            )
        (tuned,) = tuning.result()
        return tuned, returns(tuned.program.source), returns(random_policy(envs[0].action_space))


@pytest.mark.slow
def test_few_steps_serve_a_lift() -> None:
    """Well above random actions, from rollouts alone, as rules that a later round can read."""
    tuned, mean, random = evolved([Lift("levels") for _ in range(8)], 3000, 60)
    assert mean > random + 2.0
    assert read_rules(tuned.program.source) is not None
    assert tuned.steps <= 3000


def test_the_same_rollouts_give_the_same_lists() -> None:
    """A resumed run meets the same programs."""

    def no_trajectories(trial: Trial) -> float:
        return float(trial.seed % 3)

    one, first = run_tuner([agent(Lift("dict"))], no_trajectories, steps=2000)
    two, second = run_tuner([agent(Lift("dict"))], no_trajectories, steps=2000)
    assert [job.source for job in first] == [job.source for job in second]
    assert one[0].program.source == two[0].program.source


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["dict", "levels", "flags", "board", "planes"])
def test_a_courier_delivers(layout: str) -> None:
    """In every layout of the observation, far above random actions."""
    _, mean, random = evolved([Courier(layout) for _ in range(8)], 40_000, 80)
    assert mean > random + 3.0


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["dict", "flat", "levels"])
def test_a_lift_serves_in_every_layout(layout: str) -> None:
    """Far above random actions."""
    _, mean, random = evolved([Lift(layout) for _ in range(8)], 20_000, 60)
    assert mean > random + 4.0


@pytest.mark.slow
def test_a_lever_has_to_be_pulled_first() -> None:
    """The reward comes at the end alone; what happens on the way leads there."""
    _, mean, random = evolved([Room() for _ in range(8)], 40_000, 120)
    assert mean > max(0.9, random + 0.2)
