"""The budget policy, and that tuning finds good numbers inside it."""

import math
import random
from typing import Any

import pytest

from promptpo.program import Program
from promptpo.search.tuning import Start, Tuning
from promptpo.search.tuning.allocate import LANES, aligned
from promptpo.search.tuning.arms import arm_of, entrants
from promptpo.search.tuning.choosing import CHOICE_SEED
from promptpo.search.tuning.foresight import LOOK_SEED
from sandbox import Rollout, Trial

SOURCE = 'PARAMS = {"a": (0.0, -2.0, 2.0), "b": (1.0, 0.1, 100.0)}  # two\n'
CONSTANT = "x = 1\n"


def hill(trial: Any) -> Any:
    """Best at a = 1.5, b = 30; never above 0."""
    return -((trial.params["a"] - 1.5) ** 2) - (math.log(trial.params["b"]) - math.log(30)) ** 2


def noisy_hill(trial: Any) -> Any:
    """The same with noise as large as the differences."""
    noise = random.Random(f"{trial.seed} {sorted(trial.params.items())}").gauss(0.0, 1.0)
    return hill(trial) + noise


def start(id_: str = "r1c1", source: Any = SOURCE) -> Any:
    return Start(id_, Program(source), math.nan)


def test_finds_the_top_of_a_hill(drive: Any) -> None:
    """Both parameters come close to their best, the one on a log scale as well."""
    (tuned,), _ = drive([start()], hill)
    values = {name: value for name, (value, _, _) in tuned.program.params.items()}
    assert values["a"] == pytest.approx(1.5, abs=0.1)
    assert values["b"] == pytest.approx(30, rel=0.2)
    assert tuned.program.source.endswith("# two\n")
    assert tuned.changes["a"] == (0.0, values["a"])


def test_noise_does_not_lead_astray(drive: Any) -> None:
    """With noise the true value of the result is still far better than that of the start."""
    (tuned,), _ = drive([start()], noisy_hill, steps=40_000)
    values = {name: value for name, (value, _, _) in tuned.program.params.items()}
    assert hill(Trial(0, values)) > -0.7
    assert hill(Trial(0, {"a": 0.0, "b": 1.0})) < -13


def test_a_value_at_its_bound_is_said_so(drive: Any) -> None:
    """The next prompt learns that a range was too narrow."""
    (tuned,), _ = drive([start()], lambda trial: trial.params["a"] + trial.params["b"])
    assert any(note.startswith("a 0 -> ") and note.endswith("at its upper bound") for note in tuned.notes)


@pytest.mark.parametrize("terminated", [True, False])
@pytest.mark.parametrize(("steps", "length"), [(3_000, 10), (20_000, 500), (50_000, 1000), (500, 1000)])
def test_the_budget_holds(drive: Any, steps: int, length: int, terminated: bool) -> None:
    """Whatever the length of episodes, no more steps are taken than granted."""
    (tuned,), jobs = drive([start()], hill, steps=steps, length=length, terminated=terminated)
    taken = sum(min(length, trial.horizon) for job in jobs for trial in job.trials)
    assert taken <= steps
    assert tuned.steps == taken


def test_the_same_seed_asks_for_the_same_jobs(drive: Any) -> None:
    """A replay from the journal meets the same jobs; another seed meets others."""
    first = drive([start(), start("r1c2")], noisy_hill, steps=5_000)
    assert drive([start(), start("r1c2")], noisy_hill, steps=5_000) == first
    assert drive([start(), start("r1c2")], noisy_hill, steps=5_000, seed=1)[1] != first[1]


def test_the_better_structure_gets_most_of_the_steps(drive: Any) -> None:
    """A hopeless structure is given up after its share of the first half."""
    good, bad = start("good"), start("bad", SOURCE.replace("2.0)", "-1.0)"))
    (result, other), _ = drive([good, bad], hill)
    assert result.steps > 2 * other.steps
    assert other.program.source == bad.program.source
    assert "gave it up" in other.notes[0]


def many(n: Any) -> Any:
    """A structure with n numbers."""
    return start(f"n{n}", "PARAMS = {" + ", ".join(f'"p{i}": (0.5, 0.0, 1.0)' for i in range(n)) + "}\n")


@pytest.mark.parametrize(
    ("sizes", "steps", "horizon", "racing"),
    [
        ((61, 43), 131_072, 1000, 1),
        ((61, 43), 1_000_000, 1000, 2),
        ((14, 15), 131_072, 1000, 2),
        ((5, 14, 15, 25), 100_000, 500, 3),
        ((5, 14, 15, 25), 100_000, 20, 4),
        ((61,), 100, 1000, 1),
    ],
)
def test_a_race_has_as_many_entrants_as_the_budget_pays_for(
    sizes: Any, steps: int, horizon: int, racing: int
) -> None:
    """About n generations for n numbers, for every structure in the race; one is always let in."""
    arms = [arm_of(many(n), 0, lambda start, n: tuple(range(start, start + n))) for n in sizes]
    assert entrants(arms, steps, horizon) == arms[:racing]


def test_results_keep_the_order_of_the_starts(drive: Any) -> None:
    """A candidate without parameters comes back as it went in."""
    results, _ = drive([start("c1", CONSTANT), start("c2"), start("c3", CONSTANT)], hill)
    assert [result.id for result in results] == ["c1", "c2", "c3"]
    assert results[0].program.source == CONSTANT
    assert results[0].steps == 0


def test_failures_and_nan_never_win(drive: Any) -> None:
    """Half of the space crashes; the result lies in the other half."""
    (tuned,), _ = drive([start()], lambda t: math.nan if t.params["a"] > 1.0 else t.params["a"])
    assert 0.5 < tuned.program.params["a"][0] <= 1.0


def test_when_everything_fails_the_original_is_kept(drive: Any) -> None:
    """Nothing to learn: the source stays as it is."""
    (tuned,), _ = drive([start()], lambda _: math.nan, steps=3_000)
    assert tuned.program.source == SOURCE
    assert math.isnan(tuned.score)
    assert "no parameter values" in tuned.notes[0]


def test_a_single_parameter_can_be_tuned(drive: Any) -> None:
    """CMA-ES needs two dimensions; one is padded."""
    (tuned,), _ = drive(
        [start("r1c1", 'PARAMS = {"a": (0.0, -2.0, 2.0)}\n')], lambda t: -((t.params["a"] - 1.0) ** 2)
    )
    assert tuned.program.params["a"][0] == pytest.approx(1.0, abs=0.1)


def test_long_tasks_start_with_short_episodes_and_are_judged_at_full_length(drive: Any) -> None:
    """Horizons never shrink while searching; now and then, and for the final choice, episodes are whole."""
    _, jobs = drive([start()], hill, steps=60_000, length=1000)
    trials = [trial for job in jobs for trial in job.trials]
    looks = [trial.horizon for trial in trials if LOOK_SEED <= trial.seed < CHOICE_SEED]
    assert len(looks) >= 2
    assert set(looks) == {1000}
    horizons = [trial.horizon for trial in trials if not LOOK_SEED <= trial.seed < CHOICE_SEED]
    assert horizons[0] < 1000
    assert horizons == sorted(horizons)
    assert horizons[-1] == 1000


def test_episodes_that_end_by_themselves_are_not_cut(drive: Any) -> None:
    """Where episodes terminate, the end matters: after the first batch all run at full length."""
    _, jobs = drive([start()], hill, steps=60_000, length=1000, terminated=True)
    horizons = {trial.horizon for job in jobs[5:] for trial in job.trials}
    assert horizons == {1000}


def test_a_target_ends_tuning_early(drive: Any) -> None:
    """There is no point in spending steps on what is solved."""
    (_,), all_jobs = drive([start()], hill)
    (tuned,), jobs = drive([start()], hill, target=-0.5)
    assert len(jobs) < len(all_jobs)
    assert tuned.score > -0.5


def test_saturation_ends_tuning_early(drive: Any) -> None:
    """A score that cannot rise any more, as a pole that never falls, needs no more steps."""
    (tuned,), jobs = drive([start()], lambda t: 500.0 if t.params["a"] > 0.2 else 9.0)
    assert tuned.score == 500.0
    assert sum(len(job.trials) for job in jobs) < 1_000


def test_jobs_are_small_enough_to_share() -> None:
    """A generation is cut into jobs of a few lanes."""
    assert LANES <= 16


def test_a_rejected_source_gives_no_episodes() -> None:
    """Trials without an episode are kept apart from those that have one."""
    assert aligned(Rollout((), None, 0, "", 0.0, unfinished=(0, 1)), 2) == [None, None]
    assert aligned(Rollout((), None, 0, "", 0.0), 1) == [None]


def test_short_budgets_keep_what_short_episodes_taught(drive: Any) -> None:
    """Where no full-length generation is affordable, the elites of the short ones go into the final choice."""
    (tuned,), _ = drive([start()], hill, steps=40_000, length=1000)
    values = {name: value for name, (value, _, _) in tuned.program.params.items()}
    assert hill(Trial(0, values)) > -1.0


def test_what_misleads_in_short_episodes_is_noticed(drive: Any) -> None:
    """Where whole episodes punish what short ones reward, episodes become longer and the original holds."""

    def turns_aside(trial: Any) -> Any:
        return abs(trial.params["a"]) * (1 if trial.horizon < 1000 else -1)

    (tuned,), jobs = drive([start()], turns_aside, steps=60_000, length=1000)
    shortest = jobs[0].trials[0].horizon
    longer = [t.horizon for job in jobs for t in job.trials if shortest < t.horizon < 1000]
    assert min(longer) == 2 * shortest
    assert abs(tuned.program.params["a"][0]) < 0.2


def test_the_same_program_is_tuned_once(drive: Any) -> None:
    """Identical answers, in other words and layout, are one structure; the later ones come back as they were."""
    twin = start("twin", SOURCE.replace("# two", "# again"))
    (first, second, third), batches = drive(
        [start("first"), twin, start("third", SOURCE + "\nx = 3\n")], hill
    )
    assert {batch.program for batch in batches}.isdisjoint({twin.program})
    assert second.program == twin.program
    assert (second.steps, second.notes) == (0, ())
    assert first.steps > 0
    assert third.steps > 0


def test_a_structure_is_never_given_anothers_parameters(drive: Any) -> None:
    """The lead changes between structures of different parameters, looks at whole episodes included."""
    one = start("one", 'PARAMS = {"a": (0.0, -2.0, 2.0), "lev0": (1.0, 0.0, 2.0)}\n')
    other = start("other", 'PARAMS = {"b": (0.1, 0.0, 3.0), "f0": (1.0, 0.0, 2.0)}\n')
    leads = []

    def lead_changes(trial: Any) -> Any:
        if trial.horizon == 1000 and trial.seed >= LOOK_SEED:
            leads.append("a" in trial.params)
        if "a" in trial.params:
            return 1.0 - abs(trial.params["a"])
        return trial.params["b"] + (10.0 if leads else -10.0)

    _, batches = drive([one, other], lead_changes, steps=200_000, length=1000)
    for batch in batches:
        assert all(set(trial.params) == set(batch.program.params) for trial in batch.trials)
    assert set(leads) == {True, False}


@pytest.mark.parametrize("stop_after", [1, 2, 5, 20, 60])
def test_an_interrupted_tuning_has_its_best_so_far(stop_after: int) -> None:
    """Whenever it is asked, what is known to be better than the original is there, or the original is."""
    from tests.promptpo.search.tuning.conftest import _seeds, answer

    tuning = Tuning([start(), start("flat", CONSTANT)], steps=20_000, seeds=_seeds, horizon=10, seed=0)
    for _ in range(stop_after):
        tuning.step([answer(batch, hill, 10) for batch in tuning.batches])
    tuned, flat = tuning.result()
    values = tuned.program.values
    assert hill(Trial(0, values)) > hill(Trial(0, start().program.values))
    assert tuned.changes
    assert tuned.score == pytest.approx(hill(Trial(0, values)), abs=0.05)
    assert flat.program.source == CONSTANT
    assert tuning.batches, "asking ends nothing"


def test_nothing_is_lost_before_the_first_rollout() -> None:
    """Interrupted at once: every candidate as it was."""
    from tests.promptpo.search.tuning.conftest import _seeds

    (tuned,) = Tuning([start()], steps=20_000, seeds=_seeds, horizon=10, seed=0).result()
    assert tuned.program.source == SOURCE
    assert tuned.notes == ()


@pytest.mark.parametrize("steps", [150, 400, 1_000, 5_000])
@pytest.mark.parametrize("length", [10, 100])
def test_what_is_worse_than_its_parent_is_not_published(drive: Any, steps: int, length: int) -> None:
    """Where the original is the best that there is, the original comes back, however small the budget."""
    best = 'PARAMS = {"a": (1.5, -2.0, 2.0), "b": (30.0, 0.1, 100.0)}\n'
    (tuned,), _ = drive([start("best", best)], hill, steps=steps, length=length)
    assert tuned.program.source == best
    assert not tuned.changes


def test_an_interrupted_tuning_publishes_nothing_worse() -> None:
    """The same at every moment of the search."""
    from tests.promptpo.search.tuning.conftest import _seeds, answer

    best = 'PARAMS = {"a": (1.5, -2.0, 2.0), "b": (30.0, 0.1, 100.0)}\n'
    tuning = Tuning([start("best", best)], steps=60_000, seeds=_seeds, horizon=1000, seed=0)
    while tuning.batches:
        assert not tuning.result()[0].changes
        tuning.step([answer(batch, hill, 1000) for batch in tuning.batches])


def test_a_gait_that_whole_episodes_disproved_is_not_published() -> None:
    """An interruption after a look returns what the look proved, not what short episodes prefer."""
    from tests.promptpo.search.tuning.conftest import _seeds, answer

    def turns_aside(trial: Any) -> Any:
        return abs(trial.params["a"]) * (1 if trial.horizon < 1000 else -1)

    tuning = Tuning([start()], steps=60_000, seeds=_seeds, horizon=1000, seed=0)
    looked = False
    while not looked:
        looked = any(trial.seed >= LOOK_SEED for batch in tuning.batches for trial in batch.trials)
        tuning.step([answer(batch, turns_aside, 1000) for batch in tuning.batches])
    assert not tuning.result()[0].changes
