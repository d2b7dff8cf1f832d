"""Prompts of ICPI: content, length and order."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo_baselines.icpi.codecs import CODECS
from promptpo_baselines.icpi.domains import DOMAINS
from promptpo_baselines.icpi.examples import ExampleBook, Pool
from promptpo_baselines.icpi.prompts import CHARACTERS_PER_TOKEN, Question
from promptpo_baselines.icpi.setting import setting_for
from promptpo_baselines.icpi.values import Transition
from tests.baselines.icpi.worlds import CHAIN, FAST, PAPER, builder, episodes, filled_book

EPISODE = [
    Transition((5,), 0, 0.0, False, (4,)),
    Transition((4,), 1, 1.0, True, (4,)),
]
STATE = "assert state == [6] and state != [4]"


def split_examples(prompt: Any) -> Any:
    """Return the examples of a prompt."""
    return [block for block in prompt.split("\n\n") if block.strip()]


def test_examples_of_an_episode_are_as_published() -> None:
    """Word for word, for each of the four prompts."""
    book = ExampleBook(CHAIN.codec, PAPER, max_excerpt=8)
    book.add_episode(EPISODE)
    five, four = "assert state == [5] and state != [4]", "assert state == [4] and state == [4]"
    assert book.pool("done", 0).texts == [f"{five}\nstate = left()\nassert not done\n\n"]
    assert book.pool("done", 1).texts == [f"{four}\nreward = try_goal(state)\nassert done\n\n"]
    assert book.pool("reward", 1, done=True).texts == [
        f"{four}\nreward = try_goal(state)\nassert reward == 1\n\n"
    ]
    assert book.pool("next", 0).texts == [f"{five}\nstate = left()\n{four}\n\n"]
    whole = (
        f"state, reward = reset()\n{five}\nstate = left()\nassert reward == 0\n"
        f"{four}\nreward = try_goal(state)\nassert reward == 1\n\n"
    )
    last = f"state, reward = reset()\n{four}\nreward = try_goal(state)\nassert reward == 1\n\n"
    first = f"state, reward = reset()\n{five}\nstate = left()\nassert reward == 0\n\n"
    assert sorted(book.pool("policy").texts) == sorted([whole, first, last])


def test_descent_of_the_aliens_is_written_only_in_trajectories() -> None:
    """It stands after the reward of each step."""
    setting = setting_for("promptpo/MiniInvaders-v0")
    book = filled_book(setting, 3)
    assert all("a.descend()" in text for text in book.pool("policy").texts)
    assert all("assert done" in text or "assert not done" in text for text in book.pool("policy").texts)
    for kind in ("done", "reward", "next"):
        for action in range(3):
            for done in (None, False, True):
                assert not any("descend" in text for text in book.pool(kind, action, done).texts)


@pytest.mark.parametrize("env_id", DOMAINS)
def test_every_example_fits_its_question(env_id: str) -> None:
    """Actions are equal; for rewards, terminations are equal as well; for next states, no example is terminal."""
    setting = setting_for(env_id)
    book = filled_book(setting, 30)
    transitions = [step for episode in episodes(setting, 30) for step in episode]
    for action in range(setting.n_actions):
        line = setting.codec.action(action)
        for kind in ("done", "next"):
            assert all(f"\n{line}\n" in text for text in book.pool(kind, action).texts)
        wanted = [step for step in transitions if step.action == action]
        assert len(book.pool("done", action).texts) == len(wanted)
        assert len(book.pool("next", action).texts) == sum(not step.terminal for step in wanted)
        for done in (False, True):
            pool = book.pool("reward", action, done)
            assert {
                answer: len(split_examples) for answer, split_examples in pool.answers.items()
            } == Counter(setting.codec.reward(step.reward) for step in wanted if step.terminal is done)


def test_without_constraints_all_examples_are_in_one_pool() -> None:
    book = filled_book(CHAIN, 10, replace(PAPER, constrain=False))
    assert book.pool("done", 0).texts == book.pool("done", 1).texts
    assert book.pool("reward", 0, done=False).texts == book.pool("reward", 2, done=True).texts
    assert len({text.split("\n")[1] for text in book.pool("done", 0).texts}) == 3


def test_examples_have_no_hints_if_switched_off() -> None:
    book = filled_book(CHAIN, 10, replace(PAPER, hint=False))
    for pool in (book.pool("next", 0), book.pool("policy")):
        assert pool.texts
        assert not any(" and " in text for text in pool.texts)


@pytest.mark.parametrize("context", [8, 16])
def test_policy_prompt_has_only_the_latest_episodes(context: Any) -> None:
    lengths = [len(episode) for episode in episodes(CHAIN, 30)]
    book = filled_book(CHAIN, 30, replace(PAPER, context=context))
    assert len(book.pool("policy").texts) == sum(n * (n + 1) // 2 for n in lengths[-context:])


def test_imitation_uses_only_successful_excerpts() -> None:
    """Their rewards must sum to more than the threshold."""
    book = filled_book(CHAIN, 40, min_return=0.0)
    assert book.pool("policy").texts
    assert all("assert reward == 1\n" in text for text in book.pool("policy").texts)


def test_balancing_repeats_rare_answers() -> None:
    """Two against seven become seven against seven, with each example at least once."""
    pool = Pool()
    for n in range(9):
        pool.add(f"{n}\n\n", str(n < 2))
    for seed in range(20):
        drawn = Counter(pool.draw(10**6, np.random.default_rng(seed), balance=True))
        assert sum(drawn[n] for n in range(2)) == sum(drawn[n] for n in range(2, 9)) == 7
        assert set(drawn) == set(range(9))
        assert sorted(pool.draw(10**6, np.random.default_rng(seed), balance=False)) == list(range(9))


@given(
    sizes=st.lists(st.integers(1, 50), max_size=40),
    classes=st.lists(st.integers(0, 2), min_size=40, max_size=40),
    budget=st.integers(0, 600),
    balance=st.booleans(),
)
def test_selection_never_exceeds_its_budget(sizes: Any, classes: Any, budget: Any, balance: Any) -> None:
    """It uses the budget up to the size of one example."""
    pool = Pool()
    for size, answer in zip(sizes, classes, strict=False):
        pool.add("x" * size, str(answer))
    kept = pool.draw(budget, np.random.default_rng(0), balance=balance) if sizes else []
    total = sum(sizes[n] for n in kept)
    assert total <= budget
    assert len(kept) >= len(sizes) or not sizes or total + max(sizes) > budget


@pytest.mark.parametrize("env_id", DOMAINS)
@pytest.mark.parametrize("tokens", [100, 300, 3800])
def test_prompt_keeps_its_budget_and_whole_examples(env_id: str, tokens: Any) -> None:
    """It ends with the question and a line break."""
    setting = setting_for(env_id)
    book = filled_book(setting, 30)
    build = builder(setting, book, prompt_tokens=tokens)
    codec = setting.codec
    assert setting.domain is not None
    state = codec.obs(setting.domain.reset(np.random.default_rng(3)), hint=True)
    for question in (
        Question("done", state, 0),
        Question("reward", state, 0, done=False),
        Question("next", state, 0),
        Question("policy", state),
    ):
        request = build.request(question, 0, set())
        assert request is not None or tokens == 100
        if request is not None:
            assert len(request.prompt) <= tokens * CHARACTERS_PER_TOKEN
            first = request.prompt.split("\n", 1)[0]
            assert first == codec.header if question.kind == "policy" else codec.parse_obs(first) is not None
            assert request.prompt.endswith(request.query)
            assert request.query.endswith("\n")
            assert all(
                example + "\n\n" in book.pool(question.kind, question.action, question.done).texts
                for example in split_examples(request.examples)
            )


def test_seed_determines_the_prompts() -> None:
    """Byte for byte."""
    book = filled_book(CHAIN, 30)
    question = Question("done", STATE, 2)
    prompts = [
        [build.request(question, 0, set()).prompt for _ in range(5)]
        for build in (builder(CHAIN, book), builder(CHAIN, book), builder(CHAIN, book, seed=1))
    ]
    assert prompts[0] == prompts[1] != prompts[2]
    assert len(set(prompts[0])) > 1


def test_retry_shows_other_examples() -> None:
    """As long as there are others."""
    build = builder(CHAIN, filled_book(CHAIN, 30), prompt_tokens=150)
    used: set[str] = set()
    requests = [build.request(Question("done", STATE, 0), attempt, used) for attempt in range(3)]
    assert len({request.examples for request in requests}) == 3
    assert [request.attempt for request in requests] == [0, 1, 2]


def test_without_an_example_there_is_no_request() -> None:
    """The question counts as invalid, and nothing is spent on it."""
    build = builder(CHAIN, ExampleBook(CHAIN.codec, PAPER, max_excerpt=8))
    assert build.request(Question("done", STATE, 0), 0, set()) is None


def test_frozen_examples_last_for_an_episode() -> None:
    """There are at most four prefixes per action and one for the policy."""
    book = filled_book(CHAIN, 30, FAST)
    build = builder(CHAIN, book, FAST, prompt_tokens=400)
    prefixes: list[set[str]] = [set(), set()]
    for episode in range(2):
        build.begin_episode()
        for cell in range(8):
            state = CHAIN.codec.obs((cell,), hint=True)
            questions = [Question("policy", state)]
            for action in range(3):
                questions += [Question(kind, state, action) for kind in ("done", "next")]
                questions += [Question("reward", state, action, done) for done in (False, True)]
            requests = [build.request(question, 0, set()) for question in questions]
            assert all(request is None or request.shared for request in requests)
            prefixes[episode] |= {request.examples for request in requests if request is not None}
    assert len(prefixes[0]) <= 4 * 3 + 1
    assert prefixes[0] != prefixes[1]


def test_frozen_trajectories_last_for_a_decision() -> None:
    """The policy prompt gets new ones for the next decision; other examples stay."""
    build = builder(CHAIN, filled_book(CHAIN, 30, FAST), FAST, prompt_tokens=400)
    questions = [Question("done", STATE, 0), Question("policy", STATE)]
    first, again = ([build.request(question, 0, set()).examples for question in questions] for _ in range(2))
    build.begin_decision()
    later = [build.request(question, 0, set()).examples for question in questions]
    assert first == again
    assert later[0] == first[0]
    assert later[1] != first[1]


def test_choices_are_given_for_closed_sets_of_answers() -> None:
    """Terminations, rewards seen so far and actions, but not states."""
    build = builder(CHAIN, filled_book(CHAIN, 40, FAST), FAST)
    choices = {
        kind: build.request(Question(kind, STATE, None if kind == "policy" else 1, True), 0, set()).choices
        for kind in ("done", "reward", "policy")
    }
    assert choices["done"] == ("assert done", "assert not done")
    assert choices["reward"] == ("assert reward == 0", "assert reward == 1")
    assert choices["policy"] == tuple(CODECS["promptpo/Chain-v0"].actions)
    assert build.request(Question("next", STATE, 0), 0, set()).choices is None
    assert builder(CHAIN, filled_book(CHAIN)).request(Question("done", STATE, 0), 0, set()).choices is None
