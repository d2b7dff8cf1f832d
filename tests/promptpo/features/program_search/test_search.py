"""Program search as a provider: its proposals round by round."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import promptpo
from promptpo.errors import ProviderError, UnsupportedSpaceError
from promptpo.features.program_search import SearchLLM
from promptpo.features.program_search.library import narrow_ranges, propose, read_genome, structures_for
from promptpo.features.program_search.writer import Genome
from promptpo.llm.base import LLM, Message, PriorCandidate, Request, Situation
from promptpo.program import Program

PENDULUM = Situation(
    observation_space=spaces.Box(np.array([-1, -1, -8], np.float32), np.array([1, 1, 8], np.float32)),
    action_space=spaces.Box(-2.0, 2.0, (1,)),
    round=1,
    slot=0,
    seed=0,
)
BOARD = replace(PENDULUM, observation_space=spaces.Discrete(16), action_space=spaces.Discrete(4))


def ask(situation: Any, purpose: str = "policy") -> Any:
    request = Request("r1.c1", purpose, "system", (Message("user", "write"),), situation=situation)
    return asyncio.run(SearchLLM().complete(request))


def prior(source: Any, score: Any, outcome: str = "ok") -> Any:
    return PriorCandidate(source, outcome, (0.0, score, -100.0))


def test_search_is_a_provider_without_a_language_model() -> None:
    """It is free and answers with one Python fence."""
    provider = SearchLLM()
    assert isinstance(provider, LLM)
    assert not provider.capabilities.language_model
    assert provider.capabilities.purposes == {"policy"}
    completion = ask(PENDULUM)
    assert completion.text.startswith("```python\n")
    assert completion.text.endswith("\n```\n")
    assert completion.cost_usd == 0.0
    asyncio.run(provider.aclose())


def test_requests_other_than_policies_are_refused() -> None:
    """It needs to know the spaces, too."""
    with pytest.raises(ProviderError, match="policies only"):
        ask(PENDULUM, "reflection")
    with pytest.raises(ProviderError):
        ask(None)


CHOICE = replace(PENDULUM, action_space=spaces.Discrete(3))


def test_first_round_proposes_the_library_in_order() -> None:
    library = structures_for(CHOICE.observation_space, CHOICE.action_space)
    first = [read_genome(propose(replace(CHOICE, slot=slot))) for slot in range(4)]
    assert library == [Genome("linear"), Genome("linear", ordered=True)]
    assert first == [*library, *library]


def test_proposals_are_deterministic() -> None:
    """A resumed run meets the same candidates."""
    late = replace(PENDULUM, round=9, slot=3, tried=(prior(propose(PENDULUM), -900.0),))
    assert propose(late) == propose(late)
    assert propose(late) != propose(replace(late, round=10))


def test_slot_0_refines_the_best() -> None:
    """It keeps structure and values with narrower ranges."""
    source = Program(propose(PENDULUM)).with_values({"x1": 1.0}).source
    worse = propose(replace(PENDULUM, round=2))
    situation = replace(PENDULUM, round=2, tried=(prior(source, -300.0), prior(worse, -800.0)))
    again = propose(situation)
    assert read_genome(again) == Genome("linear")
    value, low, high = Program(again).params["x1"]
    before = Program(source).params["x1"]
    assert value == 1.0
    assert high - low == pytest.approx((before[2] - before[1]) / 2)
    shorter = Program(propose(replace(situation, slot=1)))
    assert "x1" in shorter.params
    assert sum("= obs[" in line or "= (obs[" in line for line in shorter.source.splitlines()) == 2
    assert len(shorter.params) == 3
    once_more = replace(situation, round=3, tried=(prior(shorter.source, -200.0),))
    assert set(Program(propose(once_more)).params) == set(shorter.params)


def test_other_slots_start_afresh() -> None:
    """They vary the library's structures, without earlier values."""
    seen = tuple(prior(propose(replace(CHOICE, slot=i)), -900.0 - i) for i in range(2))
    second = replace(CHOICE, round=2, tried=seen)
    fresh = [Program(propose(replace(second, slot=slot))) for slot in (2, 3)]
    assert {read_genome(program.source) for program in fresh} == {
        Genome("linear", variant=1),
        Genome("linear", ordered=True, variant=1),
    }
    assert not any(value for program in fresh for value in program.values.values())


def test_failed_and_foreign_programs_are_not_parents() -> None:
    source = propose(PENDULUM)
    stranger = prior("class Policy:\n    pass\n", 0.0)
    broken = (prior(source, 5.0, "crashed"), prior(source, float("nan")), stranger)
    situation = replace(PENDULUM, round=2, tried=broken)
    assert read_genome(propose(situation)) != Genome("linear")


def test_table_is_proposed_in_every_slot() -> None:
    """Duplicates cost nothing, so that the table gets all steps."""
    assert propose(BOARD) == propose(replace(BOARD, slot=3))
    assert propose(BOARD) != propose(replace(BOARD, round=2))
    assert read_genome(propose(BOARD)) == Genome("table")


def test_range_shrinks_around_the_value() -> None:
    """A value at a bound moves its range beyond that bound."""
    ranges = narrow_ranges({"inside": (0.5, 0.0, 1.0), "edge": (1.0, 0.0, 1.0)})
    assert ranges == {"inside": (0.5, 0.25, 0.75), "edge": (1.0, 0.75, 1.25)}


class Speaking(gymnasium.Env[Any, Any]):
    """Wants words."""

    observation_space = spaces.Box(0, 1, (1,))
    action_space = spaces.Text(5)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        return np.zeros(1, np.float32), 0.0, True, False, {}


def test_unsupported_action_space_is_rejected_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedSpaceError, match="Text action space"):
        promptpo.optimize(Speaking, model="search", out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
