"""Tuning that has to earn its steps: where it gains it goes on, where it cannot it ends early and says so."""

import math
import random
import statistics
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from promptpo.program import Program
from promptpo.search.tuning import Start, Tuning
from promptpo.search.tuning.choosing import CHOICE_SEED
from promptpo.search.tuning.clock import Clock
from promptpo.search.tuning.cma_search import CmaSearch
from promptpo.search.tuning.distribution import LEAST_STEP
from promptpo.search.tuning.foresight import LOOK_SEED
from promptpo.search.tuning.peaks import Peaks
from sandbox import Rollout
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


def test_an_array_is_tuned_number_by_number_and_told_as_one(drive: Any) -> None:
    """Its values are found and written in place; notes and what mattered have one line for it."""
    source = 'PARAMS = {"W": ([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], -1, 1), "idle": (0.5, 0, 1)}\n'

    def near(trial: Any) -> Any:
        return -sum((trial.params[f"W[1,{i}]"] - 0.5) ** 2 for i in range(3))

    (tuned,), _ = drive([start("array", source)], near, steps=STEPS // 2, earning=True)
    found = tuned.program.params
    assert all(abs(found[f"W[1,{i}]"][0] - 0.5) < 0.2 for i in range(3))
    assert tuned.program.arrays == {"W": (2, 3)}
    assert set(tuned.sensitivity) == {"W", "idle"}
    assert tuned.sensitivity["W"].share > 0.3
    assert sum(note.startswith("W (2 x 3): 6 numbers, mean size 0 -> ") for note in tuned.notes) == 1


def test_more_than_a_hundred_numbers_are_tuned_with_a_diagonal_covariance(drive: Any) -> None:
    """A map of 6 by 20 comes nearer to its best, in little time."""
    source = 'PARAMS = {"W": (np.zeros((6, 20)), -1, 1)}\n'

    def near(trial: Any) -> Any:
        return -sum((value - 0.3) ** 2 for value in trial.params.values())

    (tuned,), _ = drive([start("array", source)], near, steps=STEPS // 2, earning=True)
    left = sum((value - 0.3) ** 2 for value, _, _ in tuned.program.params.values())
    assert left < 0.5 * 120 * 0.3**2
    assert len(tuned.notes) <= 3


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


def test_what_short_episodes_prefer_does_not_displace_what_is_best_in_whole_ones() -> None:
    """One starts fast and falls, the other lasts: the untuned return of whole episodes is not forgotten."""
    fast = Start("fast", many(12).program, 200.0)
    steady = Start("steady", Program(many(12).program.source + "\nx = 3\n"), 900.0)

    def of(program: Any, trial: Any) -> Any:
        lasts = "x = 3" in program.source
        return sum(trial.params.values()) + (0.9 if lasts else 2.0) * min(
            trial.horizon, 1000 if lasts else 130
        )

    tuning = Tuning([steady, fast], steps=26_000, seeds=_seeds, horizon=1000, seed=0, earning=True)
    while tuning.batches:
        tuning.step([answer(job, partial(of, job.program), 1000) for job in tuning.batches])
    kept, dropped = tuning.result()
    assert kept.steps > dropped.steps
    assert kept.outcome != "given up"


def two_hills(program: Any, trial: Any) -> float:
    """One structure is at its best as it was written; the other is far better, but not at its own numbers."""
    if "x = 3" not in program.source:
        return -sum((value - 0.5) ** 2 for value in trial.params.values())
    return 10.0 - 100.0 * sum((value - 0.9) ** 2 for value in trial.params.values())


@pytest.mark.parametrize("last", [True, False])
def test_steps_that_nothing_else_can_use_are_searched_elsewhere(last: bool) -> None:
    """In vain for one structure: the others get what is left, where later rounds cannot use it."""
    at_its_best = Start("best", many(6).program, 0.0)
    promising = Start("other", Program(many(6).program.source + "\nx = 3\n"), -86.0)
    spent = 0
    tuning = Tuning(
        [at_its_best, promising],
        steps=3_000,
        seeds=_seeds,
        horizon=10,
        seed=0,
        earning=True,
        elsewhere="anywhere" if last else "nowhere",
    )
    while tuning.batches:
        rollouts = [answer(job, partial(two_hills, job.program), 10) for job in tuning.batches]
        spent += sum(rollout.steps for rollout in rollouts)
        tuning.step(rollouts)
    _, other = tuning.result()
    assert spent <= 3_000
    assert (spent > 2_000) == last
    assert bool(other.changes) == last


def _searched(starts: Any, steps: int, elsewhere: Any, of: Any) -> tuple[tuple[Any, ...], int]:
    """The results, and the steps that they took."""
    tuning = Tuning(starts, steps=steps, seeds=_seeds, horizon=10, seed=0, earning=True, elsewhere=elsewhere)
    spent = 0
    while tuning.batches:
        rollouts = [answer(job, partial(of, job.program), 10) for job in tuning.batches]
        spent += sum(rollout.steps for rollout in rollouts)
        tuning.step(rollouts)
    return tuning.result(), spent


def test_what_one_search_does_not_gain_from_goes_to_the_structures_left_out() -> None:
    """In any round, each once: the promising one is found, and then the steps stay for later."""
    starts = [
        Start("best", many(6).program, 0.0),
        Start("other", Program(many(6).program.source + "\nx = 3\n"), -86.0),
    ]
    (_, given_up), _ = _searched(starts, 3_000, "nowhere", two_hills)
    (_, other), spent = _searched(starts, 3_000, "others", two_hills)
    assert not given_up.changes
    assert other.outcome == "better"
    assert spent <= 3_000
    flat = [starts[0], replace(starts[1], program=Program(many(6).program.source + "\nx = 4\n"))]
    _, spent = _searched(flat, 60_000, "others", two_hills)
    assert spent < 30_000


def test_the_best_that_is_tuned_again_leaves_new_structures_their_turn() -> None:
    """It gains all the time, and a new one, far behind it, gains too: both come back with better numbers."""

    def of(program: Any, trial: Any) -> float:
        far = -100.0 if "x = 3" in program.source else 0.0
        return far - 10.0 * sum((value - 0.9) ** 2 for value in trial.params.values())

    again = Start("r1c1t", many(6).program, -9.6, again=True)
    new = Start("r2c1", Program(many(6).program.source + "\nx = 3\n"), -109.6)
    (leader, child), _ = _searched([again, new], 8_000, "others", of)
    assert leader.outcome == child.outcome == "better"
    assert leader.score > child.score
    assert child.steps > 1_000
    (_, alone), _ = _searched([replace(again, again=False), new], 8_000, "others", of)
    assert alone.outcome == "given up"


def test_a_search_goes_on_as_wide_as_it_was() -> None:
    """The first vectors of a search that goes on lie as close to its start as the last ones of the one before it."""
    (tuned,), _ = _searched(
        [many(6)], 8_000, "nowhere", lambda _, t: -sum((v - 0.7) ** 2 for v in t.params.values())
    )
    assert len(tuned.spread) == 6
    assert max(tuned.spread) < LEAST_STEP  # it has converged
    clock = Clock(8_000, 10, 10)

    def apart(spread: Any) -> float:
        first = CmaSearch(replace(many(6), spread=spread), 0, _seeds).ask(clock)
        rows = [[trial.params[f"p{i}"] for i in range(6)] for trial in first.trials]
        return statistics.fmean(statistics.stdev(column) for column in zip(*rows, strict=True))

    assert apart(tuned.spread) < 0.8 * apart(())
    assert apart((0.05,) * 6) < 0.5 * apart(tuned.spread)
    assert apart((0.5,)) == apart(())


def test_the_last_round_spends_nothing_where_numbers_do_not_matter(drive: Any) -> None:
    """All score alike, so that no other place can be better, and enough is enough."""
    _, jobs = drive([start()], lambda _: 7.0, steps=60_000, length=100, earning=True, elsewhere="anywhere")
    assert taken(jobs, 100) < 0.3 * 60_000


def test_a_rare_return_far_above_all_others_is_tried_again() -> None:
    """A vector with one such episode among several poor ones plays again, on fresh seeds, and is a finalist."""
    clock = Clock(20_000, 100, 10)
    arm = CmaSearch(many(6), 0, _seeds)
    arm.ask(clock)
    arm._per_vector = 4
    batch = arm.ask(clock)
    rare = batch.trials[8]  # the third vector's first episode

    def returns(trial: Any) -> float:
        if trial is rare:
            return 980.0
        return -500.0 if trial.params == rare.params else -10.0 - trial.params["p0"]

    (episodes,) = (answer(batch, returns, 100).episodes,)
    arm.tell(episodes)
    again = [trial for trial in arm.ask(clock).trials if trial.params == rare.params]
    assert arm.peak == (980.0, rare.params)
    assert again
    assert not {trial.seed for trial in again} & {trial.seed for trial in batch.trials}
    assert rare.params in [one.params for one in arm.finalists(3)]


def test_what_is_tried_again_may_win_though_no_look_showed_a_gain() -> None:
    """Looks are few; the final choice, of little more than the rare one and the original, decides."""
    one = many(6)
    tuning = Tuning([one], steps=40_000, seeds=_seeds, horizon=100, seed=3, earning=True)
    lucky: list[Any] = []

    def rare(trial: Any) -> float:
        if trial.seed >= LOOK_SEED and trial.seed < CHOICE_SEED:
            return -10.0  # what nobody saw in a look
        if not lucky and trial.params != one.program.values:
            lucky.append(trial.params)
        return 980.0 if trial.params in lucky and trial.seed % 3 else -10.0 - trial.params["p0"]

    while tuning.batches:
        tuning.step([answer(job, rare, 100) for job in tuning.batches])
    (tuned,) = tuning.result()
    assert tuned.outcome == "better"
    assert tuned.program.values == lucky[0]


def test_long_episodes_that_are_rare_do_not_keep_the_last_steps_from_use() -> None:
    """One episode in ten lasts: a generation that only in the worst case is too long is played in parts."""
    spent = {}
    for last in (True, False):
        tuning = Tuning(
            [many(6)],
            steps=20_000,
            seeds=_seeds,
            horizon=1000,
            seed=0,
            earning=True,
            elsewhere="anywhere" if last else "nowhere",
        )
        spent[last] = 0
        while tuning.batches:
            rollouts = []
            for job in tuning.batches:
                parts = [
                    answer(
                        replace(job, trials=(trial,)),
                        lambda t: sum(t.params.values()),
                        1000 if trial.seed % 10 == 0 else 90,
                        terminated=True,
                    )
                    for trial in job.trials
                ]
                episodes = tuple(episode for part in parts for episode in part.episodes)
                rollouts.append(Rollout(episodes, None, sum(part.steps for part in parts), "", 0.0))
            spent[last] += sum(rollout.steps for rollout in rollouts)
            tuning.step(rollouts)
    assert spent[False] < spent[True] <= 20_000
    assert spent[True] > 15_000


def test_whole_episodes_after_short_ones_are_paid_in_full(drive: Any) -> None:
    """A generation that may be eight times as long as any before takes no more than there is; longer ones show more."""
    starts = [start("a", many(6).program.source), start("b", many(6).program.source + "\nx = 3\n")]
    _, jobs = drive(starts, lambda _: 7.0, steps=12_000, length=1000, horizon=1000, earning=True)
    assert taken(jobs, 1000) <= 12_000
    assert max(trial.horizon for job in jobs for trial in job.trials) > 200


def test_what_whole_episodes_have_proven_is_in_the_final_choice() -> None:
    """Though short episodes, which the search ranks by, have lost sight of it; so are the original numbers."""
    one = many(6)
    tuning = Tuning([one], steps=60_000, seeds=_seeds, horizon=1000, seed=0, earning=True)
    proven = dict.fromkeys(one.program.values or {}, 0.123)
    last: list[Any] = []

    def returns(trial: Any) -> float:
        if trial.seed >= CHOICE_SEED:
            last.append(trial.params)
        return 250.0 if trial.params == proven else trial.params["p0"]

    for n in range(1000):
        if not tuning.batches:
            break
        if n == 2:
            tuning._racing[0].whole_episodes.add(proven, [240.0, 260.0])
            tuning.finish()
        tuning.step([answer(batch, returns, 1000) for batch in tuning.batches])
    assert proven in last
    assert one.program.values in last
    assert tuning.result()[0].program.values == proven


def test_values_are_steady_that_have_done_well_more_than_once() -> None:
    """A single episode may be luck, and so may the mean of two that differ much."""
    peaks = Peaks()
    assert peaks.steady() is None
    peaks.add({"a": 1.0}, [500.0])
    assert peaks.steady() is None
    peaks.add({"a": 2.0}, [20.0, 400.0])
    peaks.add({"a": 3.0}, [190.0, 200.0])
    assert peaks.steady() == {"a": 3.0}
