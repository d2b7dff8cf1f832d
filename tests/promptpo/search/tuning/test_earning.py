"""Tuning that has to earn its steps: where it gains it goes on, where it cannot it ends early and says so."""

import math
import random
from functools import partial
from typing import Any

import pytest

from promptpo.program import Program
from promptpo.search.tuning import Start, Tuning
from promptpo.search.tuning.foresight import LOOK_SEED
from tests.promptpo.search.tuning.conftest import _seeds, answer
from tests.promptpo.search.tuning.test_allocate import hill, many, start

STEPS = 20_000


def taken(jobs: Any, length: Any) -> Any:
    """Steps of some batches."""
    return sum(min(length, trial.horizon or length) for job in jobs for trial in job.trials)


def test_numbers_that_do_not_matter_take_few_steps(drive: Any) -> None:
    """All vectors score alike: seen after a look at the whole ranges in whole episodes."""
    (tuned,), jobs = drive([start()], lambda _: 7.0, steps=60_000, length=100, earning=True)
    assert taken(jobs, 100) < 0.3 * 60_000
    assert "scored alike" in tuned.notes[0]
    assert not tuned.changes
    assert max(trial.horizon for job in jobs for trial in job.trials) == 100


def test_noise_is_no_gain(drive: Any) -> None:
    """Where returns are noise alone, looks in pairs on fresh seeds show it, and most steps are left."""

    def noise(trial: Any) -> Any:
        return random.Random(f"{trial.seed} {sorted(trial.params.items())}").gauss(0.0, 1.0)

    spent = []
    for seed in range(8):
        _, jobs = drive([start()], noise, steps=STEPS, earning=True, seed=seed)
        spent.append(taken(jobs, 10))
    assert sorted(spent)[4] < 0.6 * STEPS
    assert min(spent) < 0.4 * STEPS


def test_what_is_best_already_is_left_alone(drive: Any) -> None:
    """The original is the top of the hill: no variant is published, and the notes say how much was tried."""
    best = 'PARAMS = {"a": (1.5, -2.0, 2.0), "b": (30.0, 0.1, 100.0)}\n'
    (tuned,), jobs = drive([start("best", best)], hill, steps=STEPS, earning=True)
    assert tuned.program.source == best
    assert tuned.notes[0].startswith("tuned ")
    assert tuned.notes[0].endswith("evaluations: nothing better")
    assert taken(jobs, 10) < 0.5 * STEPS


def test_what_gains_goes_on(drive: Any) -> None:
    """A hill of twelve parameters is climbed as high as without having to earn the steps."""
    one = many(12)

    def slope(trial: Any) -> Any:
        return -sum((value - 0.9) ** 2 for value in trial.params.values())

    (earning,), _ = drive([one], slope, steps=STEPS, earning=True)
    assert slope(type("T", (), {"params": earning.program.values})) > -0.1


def test_every_structure_is_tuned_briefly_before_it_is_dropped(drive: Any) -> None:
    """The untuned score misleads: the second has the worse numbers and the better structure."""
    weak = Start("weak", many(12).program, 5.0)
    strong = Start("strong", Program(many(12).program.source + "\nx = 3\n"), -100.0)

    def of(program: Any, trial: Any) -> Any:
        return sum(trial.params.values()) + (20.0 if "x = 3" in program.source else 0.0)

    tuning = Tuning([weak, strong], steps=10_000, seeds=_seeds, horizon=130, seed=0, earning=True)
    while tuning.batches:
        tuning.step([answer(job, partial(of, job.program), 130) for job in tuning.batches])
    dropped, kept = tuning.result()
    assert kept.steps > dropped.steps > 0
    assert kept.changes


def test_a_child_begins_at_its_parents_tuned_numbers(drive: Any) -> None:
    """With a budget for a few generations the warm start finds what the cold one does not."""
    warm = {"a": 1.5, "b": 30.0}
    told = Start("r2c1", start().program, math.nan, (warm,))
    (cold,), _ = drive([start()], hill, steps=600)
    (hot,), jobs = drive([told], hill, steps=600)
    assert any(trial.params == warm for trial in jobs[0].trials + jobs[1].trials)
    assert hot.score > cold.score
    assert hot.score > -0.05


def test_the_end_of_patience_leads_to_the_final_choice(drive: Any) -> None:
    """Ended by the clock, tuning compares its finalists and returns the best, without the rest of its steps."""
    tuning = Tuning([start()], steps=60_000, seeds=_seeds, horizon=10, seed=0, earning=True)
    steps = 0
    for i in range(10_000):
        if i == 20:
            tuning.finish()
        if not tuning.batches:
            break
        rollouts = [answer(job, hill, 10) for job in tuning.batches]
        steps += sum(rollout.steps for rollout in rollouts)
        tuning.step(rollouts)
    assert steps < 30_000
    assert tuning.result()[0].changes


def test_notes_tell_short_and_whole_episodes(drive: Any) -> None:
    """What pays in short episodes and costs in whole ones is noticed early, and both numbers are told."""

    def turns_aside(trial: Any) -> Any:
        return abs(trial.params["a"]) * (1 if trial.horizon < 1000 else -100)

    (tuned,), jobs = drive([start()], turns_aside, steps=131_072, length=1000, earning=True)
    assert not tuned.changes
    assert any("in whole ones -" in note for note in tuned.notes)
    trials = [trial for job in jobs for trial in job.trials]
    first = next(i for i, trial in enumerate(trials) if LOOK_SEED <= trial.seed < LOOK_SEED + 100)
    assert sum(trial.horizon for trial in trials[:first]) < 0.2 * 131_072


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_sensitivity_tells_what_mattered(drive: Any, noise: float) -> None:
    """Of six parameters one moves the return, one a little; the others are not accused."""

    def slope(trial: Any) -> Any:
        luck = random.Random(f"{trial.seed} {sorted(trial.params.items())}").gauss(0.0, noise)
        return 3 * trial.params["p1"] - 3 * (trial.params["p4"] - 0.5) ** 2 + luck

    (tuned,), _ = drive([many(6)], slope, steps=STEPS)
    shares = {name: one.share for name, one in tuned.sensitivity.items()}
    assert shares["p1"] > 0.2
    assert max(shares[name] for name in ("p0", "p2", "p3", "p5")) < 0.05
    assert tuned.sensitivity["p1"].at_bound == "upper"
    assert sum(shares.values()) <= 1.001
