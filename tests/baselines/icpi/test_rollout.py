"""Imagined rollouts: what is asked, in which order, and what becomes of the answers."""

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
"""Actions of the chain that do not end an episode; of the third there is no example that goes on."""


def imagination(
    engine: Any, profile: Any = PAPER, setting: Any = CHAIN, *, max_steps: Any = None, book: Any = None
) -> Any:
    """Rollouts over a filled memory, and the model that counts."""
    book = book or filled_book(setting, 40, profile)
    model = InContextModel(builder(setting, book, profile), engine, stream(0, "components"))
    short = replace(setting, max_rollout=max_steps or setting.max_rollout)
    made = Imagination(short, model, stream(0, "rollout"), fast=profile.fast)
    return made, model


def answers(**by_kind: Any) -> Any:
    """A scripted engine that answers by kind; the default never ends and never pays."""
    lines = {
        "done": "assert not done",
        "reward": "assert reward == 0",
        "next": AT_5,
        "policy": "state = left()",
        **by_kind,
    }
    return ScriptedEngine(lambda request: lines[request.kind])


def kinds(engine: Any) -> Any:
    """What was asked, in order."""
    return [request.kind for request in engine.requests]


def test_the_questions_come_in_the_papers_order() -> None:
    """Termination, reward, next state, policy; nothing after the last reward."""
    engine = answers()
    made, _ = imagination(engine, max_steps=3)
    made.values(AT_5)
    one = ["done", "reward", "next", "policy"] * 2 + ["done", "reward"]
    assert kinds(engine) == [*one, "done", *one]
    assert all(len(batch) == 1 for batch in engine.batches)
    assert len(engine.requests) <= 3 * 4 * 3


def test_an_end_ends_the_rollout_after_its_reward() -> None:
    """Neither next state nor action is asked any more."""
    engine = answers(done="assert done", reward="assert reward == 1")
    made, _ = imagination(engine)
    # Only trying has ever ended an episode, so only there are rewards of ends to show.
    assert made.values(AT_5) == [0.0, 1.0, 0.0]
    assert kinds(engine) == ["done", "done", "reward", "done"]


def test_rewards_are_discounted_from_the_first_step_on() -> None:
    """A reward of 1 at every step up to the cap."""
    made, _ = imagination(answers(reward="assert reward == 1"), max_steps=4)
    assert made.values(AT_5)[0] == pytest.approx(1 + 0.8 + 0.64 + 0.512)


def test_a_state_is_carried_on_word_for_word() -> None:
    """The next question holds the completion, hint included."""
    wrong_hint = "assert state == [4] and state != [4]"
    engine = answers(next=wrong_hint)
    made, _ = imagination(engine, max_steps=2)
    made.values(AT_5)
    later = [request.query for request in engine.requests if request.kind == "policy"]
    assert later == [f"state, reward = reset()\n{wrong_hint}\n"] * len(MOVES)


@pytest.mark.parametrize("kind", ["done", "reward", "next"])
def test_three_invalid_answers_end_the_rollout(kind: Any) -> None:
    """Each of the three is asked with another prompt."""
    engine = answers(**{kind: GARBAGE})
    made, model = imagination(engine)
    values = made.values(AT_5)
    assert [values[n] for n in MOVES] == [0.0] * len(MOVES)
    tries = [request for request in engine.requests if request.kind == kind]
    rollouts = 3 if kind == "done" else len(MOVES)
    assert [request.attempt for request in tries] == [0, 1, 2] * rollouts
    assert model.tally.invalid == Counter({kind: 3 * rollouts})
    assert len({request.examples for request in tries}) > 1


def test_a_partial_return_is_kept() -> None:
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
    made, _ = imagination(engine)
    assert made.values(AT_5)[0] == pytest.approx(1.8)


def test_a_valid_answer_on_the_second_try_counts() -> None:
    """And the third try is not made."""
    seen: Counter[tuple[str, int]] = Counter()

    def script(request: CompletionRequest) -> str:
        seen[request.kind, request.attempt] += 1
        return "assert done" if request.kind == "done" and request.attempt == 1 else "assert reward == 1"

    made, model = imagination(ScriptedEngine(script))
    assert made.values(AT_5)[1] == 1.0
    assert seen["done", 1] == 3
    assert seen["done", 2] == 0
    assert model.tally.invalid["done"] == 3


def test_an_invalid_action_becomes_a_random_one() -> None:
    """Every legal action with equal chance."""
    engine = answers(policy="state = fly()")
    made, _ = imagination(engine, max_steps=2)
    for _ in range(100):
        made.values(AT_5)
    after = [
        request.query.split("\n")[1]
        for before, request in zip(engine.requests, engine.requests[1:], strict=False)
        if before.kind == "policy" and request.kind == "done"
    ]
    counts = Counter(after)
    assert set(counts) == set(CHAIN.codec.actions)
    assert min(counts.values()) > 60


def test_together_or_one_by_one_gives_the_same_values() -> None:
    """With an engine whose answers depend on the question only."""
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

    found = []
    for profile in (PAPER, FAST):
        made, _ = imagination(Deterministic(), profile, book=book)
        found.append([made.values(state) for state in states])
    assert all(values == found[0] for values in found)


def test_the_fast_profile_needs_at_most_two_rounds_per_imagined_step() -> None:
    """All four questions of all actions at once, then all actions of the policy."""
    made, model = imagination(answers(), FAST)
    made.values(AT_5)
    assert model.tally.rounds <= 2 * CHAIN.max_rollout
    slow, one_by_one = imagination(answers(), PAPER)
    slow.values(AT_5)
    assert model.tally.rounds * 3 <= one_by_one.tally.rounds


@pytest.mark.parametrize("kind", ["done", "reward", "next", "policy"])
def test_a_randomised_component_is_not_asked(kind: Any) -> None:
    """Its answers are drawn from what was seen, or from the legal actions."""
    engine = oracle(CHAIN)
    scripted = ScriptedEngine(lambda request: engine.complete([request])[0].text)
    made, _ = imagination(scripted, replace(PAPER, randomize=[kind]))
    values = {tuple(made.values(AT_5)) for _ in range(30)}
    assert kind not in kinds(scripted)
    assert len(values) > 1


@pytest.mark.parametrize("env_id", DOMAINS)
def test_the_oracle_finds_the_best_first_action_worth_something(env_id: str) -> None:
    """With a filled memory no rollout ends for want of an answer."""
    setting = setting_for(env_id)
    made, model = imagination(oracle(setting), setting=setting)
    rng = np.random.default_rng(0)
    assert setting.domain is not None
    for _ in range(5):
        made.values(setting.codec.obs(setting.domain.reset(rng), hint=True))
    assert not model.tally.invalid
    assert not model.tally.skipped


def test_noise_is_counted_and_harmless() -> None:
    """Thirty percent garbage: no exception, and as many invalid answers as there was garbage."""
    book = filled_book(CHAIN, 40)
    noisy = NoisyEngine(oracle(CHAIN), np.random.default_rng(0), garbage=0.3, wrong=0.1)
    scripted = ScriptedEngine(lambda request: noisy.complete([request])[0].text)
    made, model = imagination(scripted, book=book)
    for _ in range(30):
        made.values(AT_5)
    calls, invalid = sum(model.tally.calls.values()), sum(model.tally.invalid.values())
    assert calls == len(scripted.requests)
    assert invalid / calls == pytest.approx(0.3, abs=0.04)


def test_ties_are_within_rounding() -> None:
    """Sums of the same rewards in another order are equal."""
    assert best([0.1 + 0.2, 0.3, 0.0]) == [0, 1]
    assert best([0.0]) == [0]
