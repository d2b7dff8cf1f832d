"""The agents: warm-up, ties, and their training data."""

from collections import Counter
from typing import Any, get_args

import numpy as np
import pytest

from promptpo.core.candidate import Seeds
from promptpo_baselines.icpi.agents import Randomness, TabularQAgent, own_choice_probability
from promptpo_baselines.icpi.assembly import assemble
from promptpo_baselines.icpi.matching import MatchingModel
from promptpo_baselines.icpi.memory import Memory
from promptpo_baselines.icpi.play import last_quarter, train
from promptpo_baselines.icpi.play import test as play_test
from promptpo_baselines.icpi.prompts import Question
from promptpo_baselines.icpi.setting import setting_for
from promptpo_baselines.icpi.values import Transition
from promptpo_baselines.icpi_flags import Method
from tests.baselines.icpi.engines import GARBAGE, NoisyEngine, ScriptedEngine
from tests.baselines.icpi.worlds import CHAIN, PAPER, episodes, oracle


def randomness(seed: int = 0) -> Any:
    """Return two new random streams."""
    return Randomness(np.random.default_rng([seed, 0]), np.random.default_rng([seed, 1]))


def test_warm_up_is_the_published_sigmoid() -> None:
    """After three episodes every second decision is the agent's own."""
    probabilities = [round(own_choice_probability(n), 4) for n in range(7)]
    assert probabilities == [0.0025, 0.018, 0.1192, 0.5, 0.8808, 0.982, 0.9975]


def test_ties_are_broken_evenly() -> None:
    """Chi-squared of 3,000 draws among three equal values; the limit is exceeded once in 10,000 runs."""
    draw = randomness()
    counts = Counter(draw.among_best((0.5, 0.5, 0.5, 0.4)) for _ in range(3000))
    assert set(counts) == {0, 1, 2}
    assert sum((n - 1000) ** 2 / 1000 for n in counts.values()) < 18.4


def test_tabular_q_has_learning_rate_one() -> None:
    """Unknown values are 1, and the discount is 0.8."""
    for quirk, expected in ((False, 0.0), (True, 0.8)):
        agent = TabularQAgent(CHAIN, randomness(), bootstrap_terminal=quirk)
        agent._experience = 99  # no warm-up
        agent.observe(Transition((3,), 1, 0.0, True, (3,)))
        agent.observe(Transition((2,), 2, 0.0, False, (3,)))
        assert agent._values((3,))[1] == pytest.approx(expected)
        assert agent._values((2,)).tolist() == pytest.approx([1.0, 1.0, 0.8])
        assert agent.act((2,)) in {0, 1}


def test_matching_model_copies_the_latest_match() -> None:
    """Without a match it has no answer."""
    memory = Memory()
    model = MatchingModel(CHAIN.codec, memory)
    state = CHAIN.codec.obs((5,), hint=False)
    questions = [Question("next", state, 0), Question("done", state, 0), Question("reward", state, 0, False)]
    assert model.ask([*questions, Question("policy", state)]) == [None] * 4
    memory.add_episode([Transition((5,), 0, 0.0, False, (4,)), Transition((5,), 0, 2.0, False, (7,))])
    assert model.ask([*questions, Question("policy", state)]) == [
        "assert state == [7]",
        "assert not done",
        "assert reward == 2",
        "state = left()",
    ]
    assert model.ask([Question("done", state, 1)]) == [None]


def test_memory_is_ready_when_every_action_was_tried() -> None:
    """And at least one transition was not terminal."""
    memory = Memory()
    memory.add_episode([Transition((3,), 1, 0.0, True, (3,))])
    assert not memory.ready(1)
    memory.add_episode([Transition((3,), 0, 0.0, False, (2,)), Transition((2,), 2, 0.0, False, (3,))])
    assert memory.ready(3)
    memory.add_episode([])
    assert memory.episodes == 3
    assert len(memory.transitions) == 3


@pytest.mark.parametrize("method", get_args(Method))
def test_seed_determines_a_run(method: Any) -> None:
    """Actions and regrets, for every method."""
    runs = []
    for seed in (0, 0, 1):
        engine = oracle(CHAIN, seed)
        agent = assemble(CHAIN, method, PAPER, engine=engine, seed=seed)
        logs = list(train(CHAIN, agent, 50, seed))
        runs.append([(log.end_step, log.regret, [step.action for step in log.transitions]) for log in logs])
    assert runs[0] == runs[1] != runs[2]


def test_episode_cut_off_by_the_last_step_is_not_counted() -> None:
    """It is neither logged nor learned from."""
    setting = setting_for("promptpo/MiniCatch-v0")
    logs = list(train(setting, assemble(setting, "random", PAPER), 12, 0))
    assert [log.end_step for log in logs] == [5, 10]


def test_last_quarter_is_relative_to_the_planned_steps() -> None:
    """It averages episodes that ended in the last quarter."""
    setting = setting_for("promptpo/MiniCatch-v0")
    logs = list(train(setting, assemble(setting, "random", PAPER), 40, 0))
    late = [log.regret for log in logs if log.end_step > 30 and log.regret is not None]
    assert len(late) == 2
    assert last_quarter(logs, 40) == pytest.approx(sum(late) / 2)
    assert last_quarter(logs, 400) is None


def test_agent_does_not_learn_from_test_episodes() -> None:
    agent: Any = assemble(CHAIN, "matching", PAPER, seed=0)
    list(train(CHAIN, agent, 80, 0))
    before = len(agent._memory.transitions)
    list(play_test(CHAIN, agent, Seeds().test(5)))
    assert len(agent._memory.transitions) == before


def test_imitation_learns_from_successes_only() -> None:
    """It acts as the trajectories in its prompt."""
    engine = ScriptedEngine(lambda _: "state = right()")
    agent = assemble(CHAIN, "no-argmax", PAPER, engine=engine)
    failure = [Transition((5,), 1, 0.0, True, (5,))]
    success = [Transition((4,), 1, 1.0, True, (4,))]
    for _ in range(30):
        agent.end_episode(failure)
    agent.begin_episode()
    agent.act((3,))
    assert not engine.requests
    for _ in range(10):
        agent.end_episode(success)
    assert {agent.act((3,)) for _ in range(20)} == {2}
    assert {request.kind for request in engine.requests} == {"policy"}


def test_pure_garbage_makes_a_random_agent() -> None:
    """All values are then equal, so every action is about equally frequent."""
    engine = NoisyEngine(oracle(CHAIN), np.random.default_rng(0), garbage=1.0)
    agent = assemble(CHAIN, "icpi", PAPER, engine=engine, seed=0)
    for episode in episodes(CHAIN, 12):
        agent.end_episode(episode)
    agent.begin_episode()
    counts = Counter(agent.act((5,)) for _ in range(600))
    assert min(counts.values()) > 150
    assert agent.tally.invalid["done"] == agent.tally.calls["done"]
    assert engine.complete([]) == []
    assert GARBAGE not in CHAIN.codec.actions


def test_method_with_a_model_needs_an_engine() -> None:
    """Its absence is a programmer's mistake, not a user's."""
    with pytest.raises(ValueError, match="needs an engine"):
        assemble(CHAIN, "icpi", PAPER)
