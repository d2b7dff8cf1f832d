"""Tuning against a field that is a function of the numbers: what it finds, spends and leaves alone."""

import random
from collections.abc import Callable
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
from tests.promptpo.features.tuning.conftest import answer, run_tuner

SOURCE = """
PARAMS = {"a": (0.2, 0.0, 1.0), "b": (0.2, 0.0, 1.0)}


class Policy:
    def __init__(self, params):
        self.params = params

    def act(self, obs):
        return 0
"""
OTHER = SOURCE.replace('"b": (0.2', '"c": (0.2')


def start(id_: str = "r1c1", source: str = SOURCE) -> Start:
    """A candidate with two numbers."""
    return Start(id_, Program(source))


def bowl(trial: Trial) -> float:
    """Best, 10, where both numbers are 0.7; each start is as good or bad for all."""
    return 10.0 - sum((v - 0.7) ** 2 for v in (trial.params or {}).values()) * 20 + trial.seed % 7


def plateau(trial: Trial) -> float:
    """Numbers make no difference."""
    return 3.0


def test_it_finds_better_numbers_within_its_steps() -> None:
    """Near the best, at what it says, with what moved the return."""
    (tuned,), jobs = run_tuner([start()], bowl)
    values = tuned.program.values
    assert values is not None
    assert all(abs(value - 0.7) < 0.1 for value in values.values())
    assert tuned.outcome == "better"
    assert set(tuned.changes) == set(tuned.sensitivity) == {"a", "b"}
    assert sum(10 * len(job.trials) for job in jobs) == tuned.steps <= 20_000


@pytest.mark.parametrize("steps", [400, 1500])
def test_steps_are_kept_for_the_final_choice_and_spent_on_it(steps: int) -> None:
    """However few there are, so that better numbers are shown to be better; and never more than there are."""
    (tuned,), _ = run_tuner([start()], bowl, steps=steps)
    assert tuned.outcome == "better"
    assert 0.8 * steps < tuned.steps <= steps


def test_easy_starts_are_no_merit() -> None:
    """Whatever starts add to everybody's return, the same numbers are found."""

    def eased(trial: Trial) -> float:
        return bowl(trial) + 40 * random.Random(trial.seed).random()

    (plain,), (eased_too,) = (run_tuner([start()], returns, steps=6_000)[0] for returns in (bowl, eased))
    assert plain.outcome == "better"
    assert eased_too.program.values == plain.program.values


def test_the_original_stays_where_luck_alone_speaks_for_another() -> None:
    """Returns that depend on the start and the numbers' last digits only."""
    (tuned,), _ = run_tuner([start()], lambda t: random.Random(repr(t)).random())
    assert tuned.program.source == SOURCE
    assert tuned.outcome == "none"


def test_numbers_without_effect_leave_most_steps_to_others() -> None:
    """Two looks without a gain end it, and it says that all scored alike."""
    (tuned,), _ = run_tuner([start()], plateau)
    assert tuned.outcome == "alike"
    assert 0 < tuned.steps < 7_000
    (thorough,), _ = run_tuner([start()], plateau, thorough=True)
    assert thorough.steps > 14_000


def test_a_thorough_tuning_takes_no_luck_for_a_gain() -> None:
    """It spends all steps, and yet numbers that somebody chose stay unless others are better beyond noise."""
    (tuned,), _ = run_tuner([start()], lambda t: random.Random(repr(t)).random(), thorough=True)
    assert tuned.program.source == SOURCE
    assert tuned.steps > 14_000


def test_where_nothing_runs_nothing_is_chosen() -> None:
    """Every episode fails."""
    (tuned,), _ = run_tuner([start()], lambda _: float("nan"))
    assert tuned.outcome == "nothing ran"
    assert tuned.program.source == SOURCE


def test_too_few_steps_are_no_failure_of_numbers() -> None:
    """Where the steps pay for the program as it is alone, nothing is said of other numbers."""
    (tuned,), jobs = run_tuner([start()], lambda t: t.params["a"], steps=12)
    assert sum(len(job.trials) for job in jobs) == tuned.evaluations == 1
    assert tuned.outcome == "too few"
    assert "runs to its end" not in outcome_in_words(tuned, 2)


def test_success_comes_before_the_return() -> None:
    """A return that is highest where nothing succeeds."""
    tuning = Tuning([start()], steps=20_000, seeds=seeds, horizon=10, seed=0)
    while tuning.batches:
        tuning.step(
            [
                answer(job, lambda t: 100 * t.params["a"], 10, success=lambda t: t.params["a"] < 0.5)
                for job in tuning.batches
            ]
        )
    values = tuning.result()[0].program.values
    assert values is not None
    assert 0.3 < values["a"] < 0.5


def test_a_candidate_that_warms_up_is_not_judged_by_short_episodes() -> None:
    """What is best in the first quarter of an episode is worst in all of it."""

    def warming(trial: Trial) -> float:
        early = 1.0 if (trial.horizon or 0) < 100 else -1.0
        return early * 10 * (trial.params["a"] - 0.2)

    (tuned,), jobs = run_tuner([start()], warming, length=100, steps=30_000)
    assert {trial.horizon for job in jobs for trial in job.trials} >= {100 // SHORT, 100}
    assert tuned.program.values is not None
    assert tuned.program.values["a"] <= 0.2


def test_of_several_structures_the_better_is_tuned_and_the_other_given_up() -> None:
    """They race on the same starts."""

    def apart(trial: Trial) -> float:
        return bowl(trial) + (30.0 if "c" in trial.params else 0.0)

    first, second = run_tuner([start(), start("r1c2", OTHER)], apart, steps=40_000)[0]
    assert first.outcome == "given up"
    assert second.outcome == "better"
    assert second.steps > first.steps > 0


MORE = SOURCE.replace('"b": (0.2, 0.0, 1.0)', ", ".join(f'"{name}": (0.2, 0.0, 1.0)' for name in "bcdef"))


def deceptive(trial: Trial) -> float:
    """A broad hill at the numbers as written, and another, far higher, in a corner."""
    apart = [sum((v - top) ** 2 for v in (trial.params or {}).values()) for top in (0.2, 0.85)]
    return max(10 - 10 * apart[0], 40 - 50 * apart[1])


def test_ten_times_the_steps_buy_another_basin() -> None:
    """Searches that have converged begin anew, elsewhere and in larger populations."""
    (little,), _ = run_tuner([start("r1c1", MORE)], deceptive, steps=3_000, thorough=True)
    (much,), _ = run_tuner([start("r1c1", MORE)], deceptive, steps=30_000, thorough=True)
    assert little.program.source == MORE
    assert deceptive(Trial(0, much.program.values)) > 35


def test_a_target_that_is_reached_ends_it() -> None:
    """After fifteen whole episodes that say so; a lucky one does not."""
    (tuned,), _ = run_tuner([start()], lambda t: 10.0 * min(1.0, t.params["a"] + 0.3), target=9.0)
    assert (tuned.program.values or {})["a"] + 0.3 >= 0.9
    assert tuned.steps < 5_000
    (lucky,), _ = run_tuner([start()], lambda t: float(20 * (t.seed % 2)), target=15.0)
    assert lucky.outcome == "alike"


def needs_two(trial: Trial) -> float:
    """Nothing but two of a program's weights counts."""
    first, second = (min(0.8, trial.params.get(name, 0.0)) for name in ("x1", "x2"))
    return 62.5 * (first + second)


def test_a_library_keeps_only_the_numbers_that_reach_the_target() -> None:
    """The weakest go as long as the others return as much, with all lines about them; a model's programs keep theirs."""
    spaces = gymnasium.spaces.Box(-1.0, 1.0, (4,)), gymnasium.spaces.Discrete(2)
    library = start(source=write_program(Genome("linear"), *spaces))
    (tuned,), _ = run_tuner([replace(library, arbitrary=True)], needs_two, target=99.0)
    assert set(tuned.program.params) == {"x1", "x2"}
    assert "obs[1]" in tuned.program.source
    assert "x3" not in tuned.program.source
    assert set(tuned.sensitivity) <= {"x1", "x2"}
    (whole,), _ = run_tuner([library], needs_two, target=99.0)
    assert len(whole.program.params) == 5
    own = start()
    (kept,), _ = run_tuner([replace(own, arbitrary=True)], lambda trial: 10.0, target=9.0)
    assert set(kept.program.params) == set(own.program.params)


def test_the_same_rollouts_give_the_same_batches_and_a_cut_search_keeps_what_it_has() -> None:
    """So a killed run goes on by replay, and an interrupted one is not in vain."""

    def until(n: int) -> Any:
        tuning = Tuning([start()], steps=20_000, seeds=seeds, horizon=10, seed=3)
        asked = []
        while tuning.batches and len(asked) < n:
            asked.append(tuning.batches)
            tuning.step([answer(job, bowl, 10) for job in tuning.batches])
        return tuning, asked

    (first, some), (_, more) = until(12), until(20)
    assert some == more[:12]
    assert first.result()[0].outcome == "better"


@pytest.mark.parametrize("steps", [5, 50, 200, 900])
def test_small_budgets_are_kept(steps: int, drive: Callable[..., Any]) -> None:
    """Nothing is promised of them, and little more than them is spent."""
    (tuned,), _ = drive([start()], bowl, steps=steps)
    assert tuned.steps <= max(steps, 10)


def seeds(first: int, n: int) -> tuple[int, ...]:
    """Training seeds."""
    return tuple(range(first, first + n))
