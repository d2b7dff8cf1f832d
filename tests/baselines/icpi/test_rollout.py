"""Imagined rollouts: the questions, their order, and the use of the answers."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from promptpo_baselines.icpi.assembly import stream
from promptpo_baselines.icpi.domains import DOMAINS
from promptpo_baselines.icpi.model import InContextModel
from promptpo_baselines.icpi.rollout import Imagination, best
from promptpo_baselines.icpi.setting import setting_for
from promptpo_baselines.icpi.values import CompletionRequest
from tests.baselines.icpi.engines import GARBAGE, NoisyEngine, ScriptedEngine
from tests.baselines.icpi.worlds import CHAIN, FAST, PAPER, builder, filled_book, oracle

AT_5 = CHAIN.codec.obs((5,), hint=True)


MOVES = (0, 2)
"""Actions of the chain that do not end an episode; the third has no example of a next state."""


def make_rollouts(
    engine: Any, profile: Any = PAPER, setting: Any = CHAIN, *, max_steps: Any = None, book: Any = None
) -> Any:
    """Return rollouts over a filled memory, and the model that counts calls."""
    book = book or filled_book(setting, 40, profile)
    model = InContextModel(builder(setting, book, profile), engine, stream(0, "components"))
    short = replace(setting, max_rollout=max_steps or setting.max_rollout)
    rollouts = Imagination(short, model, stream(0, "rollout"), fast=profile.fast)
    return rollouts, model


def scripted_engine(**by_kind: Any) -> Any:
    """Return an engine that answers by kind; by default episodes do not end and give no reward."""
    lines = {
        "done": "assert not done",
        "reward": "assert reward == 0",
        "next": AT_5,
        "policy": "state = left()",
        **by_kind,
    }
    return ScriptedEngine(lambda request: lines[request.kind])


def kinds(engine: Any) -> Any:
    """Return the kinds of the questions, in order."""
    return [request.kind for request in engine.requests]


def test_questions_come_in_the_papers_order() -> None:
    """Termination, reward, next state, policy; none after the last reward."""
    engine = scripted_engine()
    rollouts, _ = make_rollouts(engine, max_steps=3)
    rollouts.values(AT_5)
    one = ["done", "reward", "next", "policy"] * 2 + ["done", "reward"]
    assert kinds(engine) == [*one, "done", *one]
    assert all(len(batch) == 1 for batch in engine.batches)
    assert len(engine.requests) <= 3 * 4 * 3


def test_terminal_step_ends_the_rollout_after_its_reward() -> None:
    """Neither the next state nor an action is requested."""
    engine = scripted_engine(done="assert done", reward="assert reward == 1")
    rollouts, _ = make_rollouts(engine)
    # Only try_goal has ever ended an episode, so only it has examples of terminal rewards.
    assert rollouts.values(AT_5) == [0.0, 1.0, 0.0]
    assert kinds(engine) == ["done", "done", "reward", "done"]


def test_rewards_are_discounted_from_the_first_step_on() -> None:
    """Every step up to the limit has a reward of 1."""
    rollouts, _ = make_rollouts(scripted_engine(reward="assert reward == 1"), max_steps=4)
    assert rollouts.values(AT_5)[0] == pytest.approx(1 + 0.8 + 0.64 + 0.512)


def test_next_question_contains_the_completion_verbatim() -> None:
    """Its hint is included."""
    wrong_hint = "assert state == [4] and state != [4]"
    engine = scripted_engine(next=wrong_hint)
    rollouts, _ = make_rollouts(engine, max_steps=2)
    rollouts.values(AT_5)
    later = [request.query for request in engine.requests if request.kind == "policy"]
    assert later == [f"state, reward = reset()\n{wrong_hint}\n"] * len(MOVES)


@pytest.mark.parametrize("kind", ["done", "reward", "next"])
def test_three_invalid_answers_end_the_rollout(kind: Any) -> None:
    """Each attempt has another prompt."""
    engine = scripted_engine(**{kind: GARBAGE})
    imagined, model = make_rollouts(engine)
    values = imagined.values(AT_5)
    assert [values[n] for n in MOVES] == [0.0] * len(MOVES)
    tries = [request for request in engine.requests if request.kind == kind]
    rollouts = 3 if kind == "done" else len(MOVES)
    assert [request.attempt for request in tries] == [0, 1, 2] * rollouts
    assert model.tally.invalid == Counter({kind: 3 * rollouts})
    assert len({request.examples for request in tries}) > 1


def test_partial_return_is_kept() -> None:
    """Two rewards, then no valid next state."""
    lines = iter([AT_5, *[GARBAGE] * 3])
    engine = ScriptedEngine(
        lambda request: (
            {
                "done": "assert not done",
                "reward": "assert reward == 1",
                "policy": "state = left()",
            }.get(request.kind)
            or next(lines, GARBAGE)
        )
    )
    rollouts, _ = make_rollouts(engine)
    assert rollouts.values(AT_5)[0] == pytest.approx(1.8)


def test_valid_answer_on_the_second_attempt_counts() -> None:
    """There is no third attempt."""
    seen: Counter[tuple[str, int]] = Counter()

    def script(request: CompletionRequest) -> str:
        seen[request.kind, request.attempt] += 1
        return "assert done" if request.kind == "done" and request.attempt == 1 else "assert reward == 1"

    rollouts, model = make_rollouts(ScriptedEngine(script))
    assert rollouts.values(AT_5)[1] == 1.0
    assert seen["done", 1] == 3
    assert seen["done", 2] == 0
    assert model.tally.invalid["done"] == 3


def test_invalid_action_is_replaced_by_a_random_one() -> None:
    """Every legal action has the same probability."""
    engine = scripted_engine(policy="state = fly()")
    rollouts, _ = make_rollouts(engine, max_steps=2)
    for _ in range(100):
        rollouts.values(AT_5)
    after = [
        request.query.split("\n")[1]
        for before, request in zip(engine.requests, engine.requests[1:], strict=False)
        if before.kind == "policy" and request.kind == "done"
    ]
    counts = Counter(after)
    assert set(counts) == set(CHAIN.codec.actions)
    assert min(counts.values()) > 60


def test_batched_and_sequential_rollouts_give_the_same_values() -> None:
    """The engine's answers depend only on the question."""
    states = [CHAIN.codec.obs((cell,), hint=True) for cell in range(8)]
    book = filled_book(CHAIN, 60)
    policy = ScriptedEngine(lambda _: "")

    class Deterministic:
        name, paid = "deterministic", False

        def __init__(self) -> None:
            self.world = oracle(CHAIN)

        def complete(self, requests: Any) -> Any:
            policy.complete(requests)
            return [
                replace(result, text="state = left()") if request.kind == "policy" else result
                for request, result in zip(requests, self.world.complete(requests), strict=True)
            ]

    values_by_profile = []
    for profile in (PAPER, FAST):
        rollouts, _ = make_rollouts(Deterministic(), profile, book=book)
        values_by_profile.append([rollouts.values(state) for state in states])
    assert all(values == values_by_profile[0] for values in values_by_profile)


def test_fast_profile_needs_at_most_two_batches_per_imagined_step() -> None:
    """The questions of all actions at once, then all policy questions."""
    rollouts, model = make_rollouts(scripted_engine(), FAST)
    rollouts.values(AT_5)
    assert model.tally.rounds <= 2 * CHAIN.max_rollout
    slow, one_by_one = make_rollouts(scripted_engine(), PAPER)
    slow.values(AT_5)
    assert model.tally.rounds * 3 <= one_by_one.tally.rounds


@pytest.mark.parametrize("kind", ["done", "reward", "next", "policy"])
def test_randomised_component_makes_no_request(kind: Any) -> None:
    """Its answers are drawn from those seen before, or from the legal actions."""
    engine = oracle(CHAIN)
    scripted = ScriptedEngine(lambda request: engine.complete([request])[0].text)
    rollouts, _ = make_rollouts(scripted, replace(PAPER, randomize=[kind]))
    values = {tuple(rollouts.values(AT_5)) for _ in range(30)}
    assert kind not in kinds(scripted)
    assert len(values) > 1


@pytest.mark.parametrize("env_id", DOMAINS)
def test_rollouts_of_the_oracle_have_no_invalid_answer(env_id: str) -> None:
    """Once the memory is filled."""
    setting = setting_for(env_id)
    rollouts, model = make_rollouts(oracle(setting), setting=setting)
    rng = np.random.default_rng(0)
    assert setting.domain is not None
    for _ in range(5):
        rollouts.values(setting.codec.obs(setting.domain.reset(rng), hint=True))
    assert not model.tally.invalid
    assert not model.tally.skipped


def test_invalid_answers_are_counted() -> None:
    """Their number fits the engine's share of garbage, and none raises an exception."""
    book = filled_book(CHAIN, 40)
    noisy = NoisyEngine(oracle(CHAIN), np.random.default_rng(0), garbage=0.3, wrong=0.1)
    scripted = ScriptedEngine(lambda request: noisy.complete([request])[0].text)
    rollouts, model = make_rollouts(scripted, book=book)
    for _ in range(30):
        rollouts.values(AT_5)
    calls, invalid = sum(model.tally.calls.values()), sum(model.tally.invalid.values())
    assert calls == len(scripted.requests)
    assert invalid / calls == pytest.approx(0.3, abs=0.04)


def test_ties_ignore_rounding_errors() -> None:
    """Sums of the same rewards in another order are equal."""
    assert best([0.1 + 0.2, 0.3, 0.0]) == [0, 1]
    assert best([0.0]) == [0]
