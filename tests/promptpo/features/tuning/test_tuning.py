"""Tuning on returns that are a function of the parameters."""

import random
from dataclasses import replace
from typing import Any

import gymnasium
import pytest

from promptpo.features.program_search.library import write_program
from promptpo.features.program_search.writer import Genome
from promptpo.features.tuning.batches import Start
from promptpo.features.tuning.numbers import SHORT
from promptpo.features.tuning.outcome import outcome_in_words
from promptpo.features.tuning.tuning import Tuning
from promptpo.program import Program
from promptpo_sandbox import Trial
from tests.promptpo.features.tuning.conftest import fake_rollout, run_tuner

SOURCE = """
PARAMS = {"a": (0.2, 0.0, 1.0), "b": (0.2, 0.0, 1.0)}


class Policy:
    def __init__(self, params):
        self.params = params

    def act(self, obs):
        return 0
"""
OTHER = SOURCE.replace('"b": (0.2', '"c": (0.2')


def make_start(id_: str = "r1c1", source: str = SOURCE) -> Start:
    """A candidate with two parameters."""
    return Start(id_, Program(source))


def bowl(trial: Trial) -> float:
    """Highest, 10, where both parameters are 0.7; each seed adds the same for all."""
    return 10.0 - sum((v - 0.7) ** 2 for v in (trial.params or {}).values()) * 20 + trial.seed % 7


def plateau(trial: Trial) -> float:
    """Ignore the parameters."""
    return 3.0


def test_tuning_finds_better_parameters_within_its_steps() -> None:
    (tuned,), jobs = run_tuner([make_start()], bowl)
    values = tuned.program.values
    assert values is not None
    assert all(abs(value - 0.7) < 0.1 for value in values.values())
    assert tuned.outcome == "better"
    assert set(tuned.changes) == set(tuned.sensitivity) == {"a", "b"}
    assert sum(10 * len(job.trials) for job in jobs) == tuned.steps <= 20_000


@pytest.mark.parametrize("steps", [400, 1500])
def test_final_choice_gets_its_steps(steps: int) -> None:
    """Without them, better parameters could not be shown to be better."""
    (tuned,), _ = run_tuner([make_start()], bowl, steps=steps)
    assert tuned.outcome == "better"
    assert 0.8 * steps < tuned.steps <= steps


def test_difficulty_of_seeds_does_not_change_the_result() -> None:

    def eased(trial: Trial) -> float:
        return bowl(trial) + 40 * random.Random(trial.seed).random()

    (plain,), (eased_too,) = (run_tuner([make_start()], returns, steps=6_000)[0] for returns in (bowl, eased))
    assert plain.outcome == "better"
    assert eased_too.program.values == plain.program.values


def test_original_is_kept_if_returns_are_noise() -> None:
    (tuned,), _ = run_tuner([make_start()], lambda t: random.Random(repr(t)).random())
    assert tuned.program.source == SOURCE
    assert tuned.outcome == "none"


def test_ineffective_parameters_end_tuning_early() -> None:
    """Two checks without a gain end it unless it is thorough."""
    (tuned,), _ = run_tuner([make_start()], plateau)
    assert tuned.outcome == "alike"
    assert 0 < tuned.steps < 7_000
    (thorough,), _ = run_tuner([make_start()], plateau, thorough=True)
    assert thorough.steps > 14_000


def test_thorough_tuning_keeps_the_original_within_noise() -> None:
    (tuned,), _ = run_tuner([make_start()], lambda t: random.Random(repr(t)).random(), thorough=True)
    assert tuned.program.source == SOURCE
    assert tuned.steps > 14_000


def test_nothing_is_chosen_if_every_episode_fails() -> None:
    (tuned,), _ = run_tuner([make_start()], lambda _: float("nan"))
    assert tuned.outcome == "nothing ran"
    assert tuned.program.source == SOURCE


def test_too_few_steps_are_not_blamed_on_the_parameters() -> None:
    (tuned,), jobs = run_tuner([make_start()], lambda t: t.params["a"], steps=12)
    assert sum(len(job.trials) for job in jobs) == tuned.evaluations == 1
    assert tuned.outcome == "too few"
    assert "runs to its end" not in outcome_in_words(tuned, 2)


def test_success_comes_before_the_return() -> None:
    """Returns are highest where nothing succeeds."""
    tuning = Tuning([make_start()], steps=20_000, seeds=consecutive_seeds, horizon=10, seed=0)
    while tuning.batches:
        tuning.step(
            [
                fake_rollout(job, lambda t: 100 * t.params["a"], 10, success=lambda t: t.params["a"] < 0.5)
                for job in tuning.batches
            ]
        )
    values = tuning.result()[0].program.values
    assert values is not None
    assert 0.3 < values["a"] < 0.5


def test_short_episodes_do_not_decide_alone() -> None:
    """The best parameters for the first quarter are the worst for whole episodes."""

    def warming(trial: Trial) -> float:
        early = 1.0 if (trial.horizon or 0) < 100 else -1.0
        return early * 10 * (trial.params["a"] - 0.2)

    (tuned,), jobs = run_tuner([make_start()], warming, length=100, steps=30_000)
    assert {trial.horizon for job in jobs for trial in job.trials} >= {100 // SHORT, 100}
    assert tuned.program.values is not None
    assert tuned.program.values["a"] <= 0.2


def test_worse_of_two_structures_is_given_up() -> None:
    """They race on the same seeds."""

    def apart(trial: Trial) -> float:
        return bowl(trial) + (30.0 if "c" in trial.params else 0.0)

    first, second = run_tuner([make_start(), make_start("r1c2", OTHER)], apart, steps=40_000)[0]
    assert first.outcome == "given up"
    assert second.outcome == "better"
    assert second.steps > first.steps > 0


MORE = SOURCE.replace('"b": (0.2, 0.0, 1.0)', ", ".join(f'"{name}": (0.2, 0.0, 1.0)' for name in "bcdef"))


def deceptive(trial: Trial) -> float:
    """A broad hill at the original parameters and a far higher one in a corner."""
    apart = [sum((v - top) ** 2 for v in (trial.params or {}).values()) for top in (0.2, 0.85)]
    return max(10 - 10 * apart[0], 40 - 50 * apart[1])


def test_more_steps_find_another_basin() -> None:
    """Converged searches restart elsewhere with larger populations."""
    (little,), _ = run_tuner([make_start("r1c1", MORE)], deceptive, steps=3_000, thorough=True)
    (much,), _ = run_tuner([make_start("r1c1", MORE)], deceptive, steps=30_000, thorough=True)
    assert little.program.source == MORE
    assert deceptive(Trial(0, much.program.values)) > 35


def test_reaching_the_target_ends_tuning() -> None:
    """Fifteen whole episodes must confirm it."""
    (tuned,), _ = run_tuner([make_start()], lambda t: 10.0 * min(1.0, t.params["a"] + 0.3), target=9.0)
    assert (tuned.program.values or {})["a"] + 0.3 >= 0.9
    assert tuned.steps < 5_000
    (lucky,), _ = run_tuner([make_start()], lambda t: float(20 * (t.seed % 2)), target=15.0)
    assert lucky.outcome == "alike"


def needs_two(trial: Trial) -> float:
    """Depend on two of the program's weights only."""
    first, second = (min(0.8, trial.params.get(name, 0.0)) for name in ("x1", "x2"))
    return 62.5 * (first + second)


def test_library_programs_are_pruned_at_the_target() -> None:
    """Weak parameters go with all their lines; programs of models keep theirs."""
    spaces = gymnasium.spaces.Box(-1.0, 1.0, (4,)), gymnasium.spaces.Discrete(2)
    library = make_start(source=write_program(Genome("linear"), *spaces))
    (tuned,), _ = run_tuner([replace(library, arbitrary=True)], needs_two, target=99.0)
    assert set(tuned.program.params) == {"x1", "x2"}
    assert "obs[1]" in tuned.program.source
    assert "x3" not in tuned.program.source
    assert set(tuned.sensitivity) <= {"x1", "x2"}
    (whole,), _ = run_tuner([library], needs_two, target=99.0)
    assert len(whole.program.params) == 5
    own = make_start()
    (kept,), _ = run_tuner([replace(own, arbitrary=True)], lambda trial: 10.0, target=9.0)
    assert set(kept.program.params) == set(own.program.params)


def test_tuning_is_replayable_and_interruptible() -> None:

    def until(n: int) -> Any:
        tuning = Tuning([make_start()], steps=20_000, seeds=consecutive_seeds, horizon=10, seed=3)
        asked = []
        while tuning.batches and len(asked) < n:
            asked.append(tuning.batches)
            tuning.step([fake_rollout(job, bowl, 10) for job in tuning.batches])
        return tuning, asked

    (first, some), (_, more) = until(12), until(20)
    assert some == more[:12]
    assert first.result()[0].outcome == "better"


@pytest.mark.parametrize("steps", [5, 50, 200, 900])
def test_small_step_budgets_are_respected(steps: int) -> None:
    (tuned,), _ = run_tuner([make_start()], bowl, steps=steps)
    assert tuned.steps <= max(steps, 10)


def consecutive_seeds(first: int, n: int) -> tuple[int, ...]:
    """Return training seeds."""
    return tuple(range(first, first + n))
