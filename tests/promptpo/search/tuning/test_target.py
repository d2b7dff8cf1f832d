"""A target that is reached ends tuning, once enough whole episodes say so."""

from typing import Any

from promptpo.program import Program
from promptpo.search.tuning import Start, Tuning
from promptpo.search.tuning.batches import Finalist
from promptpo.search.tuning.clock import CLEAR, SHORTEST, Clock
from promptpo.search.tuning.cma_search import WIDE_GENERATIONS, WIDE_VECTORS, CmaSearch
from promptpo.search.tuning.target import Proof
from tests.promptpo.search.tuning.conftest import run_tuner
from tests.promptpo.search.tuning.test_clock import rollout

SOURCE = """
PARAMS = {"a": (0.1, 0.0, 1.0), "b": (0.1, 0.0, 1.0)}


class Policy:
    def __init__(self, params):
        self.params = params

    def act(self, obs):
        return 0
"""


def start() -> Start:
    return Start("c1", Program(SOURCE), 0.0)


def good(trial: Any) -> float:
    """Reaches 10 where both numbers are above a quarter."""
    return 10.0 if min(trial.params["a"], trial.params["b"]) > 0.25 else trial.params["a"] + trial.params["b"]


def test_tuning_ends_soon_after_the_target_is_reached() -> None:
    """A tenth of the budget does where every episode of the vector reaches it; the result is that vector."""
    (tuned,), _ = run_tuner([start()], good, steps=60_000, target=9.5)
    assert tuned.steps < 6000
    values = tuned.program.values
    assert values is not None
    assert good(type("Trial", (), {"params": values})) == 10.0


def test_a_lucky_vector_does_not_end_it() -> None:
    """One whose episodes reach the target half of the time is found out, whatever its best were."""
    (tuned,), jobs = run_tuner([start()], lambda trial: float(20 * (trial.seed % 2)), steps=8000, target=15.0)
    assert sum(10 * len(job.trials) for job in jobs) > 6000
    assert tuned.score < 15.0 or tuned.program.source == SOURCE


def test_the_first_structure_has_its_chance_alone() -> None:
    """Where it reaches the target by itself, no other structure takes a step."""
    other = Start("c2", Program(SOURCE.replace('"b"', '"c"')), 0.0)
    tuning = Tuning(
        [start(), other],
        steps=100_000,
        horizon=100,
        seed=0,
        target=95.0,
        seeds=lambda a, n: tuple(range(a, a + n)),
    )
    while tuning.batches:
        rollouts = []
        for job in tuning.batches:
            lasted = [round(10 * good(t)) if "b" in t.params else 1 for t in job.trials]
            rollouts.append(rollout(*[(float(n), n, n < 100) for n in (max(1, n) for n in lasted)]))
        tuning.step(rollouts)
    first, second = tuning.result()
    assert first.steps > 0
    assert second.steps == 0


def test_without_a_target_nothing_is_proven() -> None:
    """All of the budget is spent on finding better numbers, as before."""
    _, jobs = run_tuner([start()], lambda trial: trial.params["a"] + 0.001 * trial.seed, steps=8000)
    assert sum(10 * len(job.trials) for job in jobs) > 6000


def test_where_every_step_earns_the_same_ending_is_a_failure_at_once() -> None:
    """A few episodes that ended tell it; episodes are then cut, so that surviving ones cost little."""
    clock = Clock(100_000, 1000, population=16)
    clock.add(rollout(*[(float(n), n, True) for n in (9, 12, 30, 25, 40)]))
    assert clock.endings >= CLEAR
    assert clock.failing
    assert clock.stage_horizon() == SHORTEST
    other = Clock(100_000, 1000, population=16)
    other.add(rollout(*[(-float(n), n, True) for n in (9, 12, 30, 25, 40)]))
    assert not other.failing


def lasting(steps: int, returns: list[float], horizon: int = 100) -> Proof:
    """A proof of a target of 95 by episodes that earn 1 in each step, told these returns."""
    clock = Clock(steps, horizon, 8)
    clock.add(rollout(*[(50.0, 50, True)] * CLEAR))
    proof = Proof(clock, lambda a, n: tuple(range(a, a + n)), 95.0)
    arm: Any = type(
        "Arm",
        (),
        {"steps": 0, "evaluations": 0, "may_reach": lambda *_: iter([Finalist(Program(SOURCE), {})])},
    )()
    while returns and (batch := proof.ask(arm)) is not None:
        told, returns = returns[: len(batch.trials)], returns[len(batch.trials) :]
        proof.tell(list(rollout(*[(value, int(value), value < horizon) for value in told]).episodes))
    return proof


def test_what_cannot_reach_the_target_any_more_is_given_up() -> None:
    """The most that an episode can earn is known, so one that ended at 20 of 100 rules a mean of 95 out."""
    assert lasting(100_000, [100.0, 100.0, 100.0, 20.0, 100.0, 100.0] + [100.0] * 9).reached is None
    assert lasting(100_000, [100.0] * 15).reached is not None


def test_ten_good_episodes_are_not_enough() -> None:
    """A vector that falls in one episode of ten is often lucky ten times; the last look finds it out."""
    assert lasting(100_000, [100.0] * 10).reached is None
    assert lasting(100_000, [100.0] * 12 + [10.0, 100.0, 100.0]).reached is None


def test_vectors_from_anywhere_come_only_where_lasting_is_all() -> None:
    """Where bad vectors cost little, some are drawn from the whole ranges; elsewhere none is."""

    def generations(earned: float) -> list[int]:
        arm, clock = CmaSearch(start(), 0, lambda a, n: tuple(range(a, a + n))), Clock(100_000, 100, 8)
        sizes = []
        for _ in range(6):
            clock.cheap = clock.spent == 0 or clock.lasting
            batch = arm.ask(clock)
            sizes.append(len({tuple(sorted((trial.params or {}).items())) for trial in batch.trials}))
            found = rollout(*[(earned * (5 + n % 7), 5 + n % 7, True) for n in range(len(batch.trials))])
            clock.add(found)
            arm.tell(list(found.episodes))
        return sizes

    wide, plain = generations(1.0), generations(-1.0)
    assert min(wide[1 : WIDE_GENERATIONS + 1]) >= WIDE_VECTORS
    assert max(plain) < WIDE_VECTORS
    assert wide[0] < WIDE_VECTORS
    assert wide[WIDE_GENERATIONS + 1] < WIDE_VECTORS
