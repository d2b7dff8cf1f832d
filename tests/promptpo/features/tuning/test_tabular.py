"""Learning tables in the real sandbox on small Gymnasium environments."""

from typing import Any

import gymnasium
import numpy as np
import pytest

from promptpo.features.program_search.features import key_function
from promptpo.features.program_search.library import write_program
from promptpo.features.program_search.writer import Genome
from promptpo.features.tuning.batches import Start
from promptpo.features.tuning.table_model import TableModel, key_of
from promptpo.features.tuning.tabular import explorer
from promptpo.features.tuning.tuning import Tuning
from promptpo.program import Program
from promptpo_sandbox import Sandbox, Trial


def learn(env_id: Any, steps: Any, horizon: Any, seed: int = 0, **kwargs: Any) -> Any:
    """Tune an empty table; return the result and its mean return on other seeds."""
    envs = [gymnasium.make(env_id, **kwargs) for _ in range(8)]
    table = write_program(Genome("table"), envs[0].observation_space, envs[0].action_space)
    tuning = Tuning(
        [Start("r1c1", Program(table))],
        steps=steps,
        horizon=horizon,
        seed=seed,
        seeds=lambda start, n: tuple(range(start, start + n)),
    )
    with Sandbox(allow_weaker=True) as box:
        while tuning.batches:
            tuning.step(
                [
                    box.rollout(b.source, envs, b.trials, record=b.record, stop_on_failure=False)
                    for b in tuning.batches
                ]
            )
        (tuned,) = tuning.result()
        test = [Trial(10_000_000 + i, None, horizon) for i in range(200)]
        episodes = box.rollout(tuned.program.source, envs, test).episodes
    return tuned, float(np.mean([episode.return_ for episode in episodes]))


@pytest.mark.slow
def test_frozen_lake_is_learnt() -> None:
    """On slippery ice, most random episodes have no reward."""
    tuned, score = learn("FrozenLake-v1", 25_000, 100)
    assert score > 0.6
    assert tuned.note.startswith("TABLE: 11 of 11 entries learned from")  # 16 fields, 4 holes, 1 goal


@pytest.mark.slow
def test_blackjack_is_learnt() -> None:
    """A constant or random policy returns about -0.4."""
    tuned, score = learn("Blackjack-v1", 5_000, 100)
    assert score > -0.2
    assert all(len(key) == 3 for key in tuned.program.table)


@pytest.mark.slow
def test_taxi_is_learnt() -> None:
    """Each of 500 states needs an action."""
    _, score = learn("Taxi-v4", 60_000, 200)
    assert score > 6


def test_optimistic_values_favour_unknown_actions() -> None:
    """Known actions lead towards them."""
    model = TableModel((0, 1), 0.9)
    for state in range(4):
        model.learn(state, 0, 0.0, max(0, state - 1))
        if state < 3:
            model.learn(state, 1, 0.0, state + 1)
    q = model.values(1, optimistic=True)
    assert [int(np.argmax(q[state])) for state in range(4)] == [1, 1, 1, 1]
    assert q[0, 1] < q[2, 1] < q[3, 1]


def test_greedy_values_match_the_closed_form() -> None:
    """Untried actions are not chosen."""
    model = TableModel((0, 1), 0.5)
    model.learn("a", 0, 1.0, "a")
    model.learn("a", 1, 0.0, "b")
    model.learn("b", 0, 4.0, None)
    q = model.values(1, optimistic=False)
    assert q[model.index["b"], 0] == pytest.approx(4.0)
    assert q[model.index["a"]] == pytest.approx([2.0, 2.0], abs=1e-3)
    assert q[model.index["b"], 1] == -np.inf


def test_nan_rewards_are_ignored() -> None:
    """A NaN would spoil every value."""
    model = TableModel((0, 1), 0.9)
    model.learn(0, 0, float("nan"), 1)
    assert model.visits.total() == 0


@pytest.mark.parametrize(
    ("space", "observation", "expected"),
    [
        (gymnasium.spaces.Discrete(5), 3, 3),
        (gymnasium.spaces.Discrete(5), np.int64(3), 3),
        (gymnasium.spaces.MultiDiscrete([3, 4]), np.array([2, 1]), (2, 1)),
        (gymnasium.spaces.MultiBinary(1), np.array([1], np.int8), (1,)),
        (gymnasium.spaces.Tuple([gymnasium.spaces.Discrete(9), gymnasium.spaces.MultiBinary(2)]),
         (4, np.array([0, 1])), (4, 0, 1)),
        (gymnasium.spaces.Dict({"b": gymnasium.spaces.Discrete(3), "a": gymnasium.spaces.Discrete(3)}),
         {"a": 1, "b": 2}, (1, 2)),
        (gymnasium.spaces.Dict({"a": gymnasium.spaces.Discrete(3)}), {"a": 1}, (1,)),
        (gymnasium.spaces.Tuple([gymnasium.spaces.Discrete(3)]), (1,), (1,)),
    ],
)  # fmt: skip
def test_host_and_policies_agree_about_keys(space: Any, observation: Any, expected: Any) -> None:
    """The learner's state is the key that the written policy and the exploring one look up."""
    assert key_of(observation) == expected
    exploring: dict[str, Any] = {}
    exec(explorer({expected: (7,)}, (0, 1)).postponed.source, exploring)  # noqa: S102 - our own text, not a policy's
    assert exploring["Policy"]({"turn": 0.0}).act(observation) == 7
    namespace = {"np": np}
    exec(key_function(space), namespace)  # noqa: S102 - our own text, not a policy's
    assert namespace["key"](observation) == expected
