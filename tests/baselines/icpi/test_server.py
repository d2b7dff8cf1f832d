"""Completions over real HTTP, raw and through a chat model, with the official clients."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from promptpo.core.budget import Ledger
from promptpo.core.config import Budget
from promptpo.core.journal import Journal
from promptpo.errors import BudgetSpentError, ProviderError
from promptpo_baselines.icpi.engines.choose import select_engine
from promptpo_baselines.icpi.engines.paid import PaidEngine, without_oldest
from promptpo_baselines.icpi.engines.text import TextLLM
from promptpo_baselines.icpi.values import CompletionRequest

EXAMPLE = "assert state == [6] and state != [4]\nstate = left()\nassert state == [5] and state != [4]\n\n"
CHOICES = ("assert done", "assert not done")


def request(cell: Any, *, examples: Any = EXAMPLE, choices: Any = None, **settings: Any) -> Any:
    """Ask for the state left of a cell."""
    query = f"assert state == [{cell}] and state != [4]\nstate = left()\n"
    return CompletionRequest(examples, query, "next", choices=choices, **settings)


def make_engine(
    journal: Journal, server: Any, *, llamacpp: bool = True, budget: Any = None, retries: int = 6
) -> PaidEngine:
    """Return the real engine, with short waits between retries."""
    ledger = Ledger(budget or Budget(steps=None), journal.events)
    journal.listen(ledger.add)
    llm: Any = type("TextLLM", (TextLLM,), {"max_retries": retries, "busy_retries": retries})
    return PaidEngine(llm("m", base_url=server.address, llamacpp=llamacpp), ledger, journal)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    """The journal of a new run."""
    with Journal(tmp_path) as opened:
        yield opened


@pytest.fixture
def engine(server: Any, journal: Journal) -> Any:
    """A function that makes engines; see `make_engine`."""
    return lambda **settings: make_engine(journal, server, **settings)


@pytest.fixture
def paid(engine: Any) -> Iterator[Any]:
    """An engine without limits."""
    paid_engine = engine()
    yield paid_engine
    paid_engine.close()


@pytest.mark.slow
def test_batch_keeps_its_order(server: Any, paid: Any) -> None:
    """Answers may arrive in any order; tokens are counted by the server."""
    results = paid.complete([request(cell) for cell in (7, 1, 6, 2, 5)])
    assert [result.text.split(" and ")[0] for result in results] == [
        f"assert state == [{cell}]" for cell in (6, 0, 5, 1, 4)
    ]
    assert all(result.usage.cached_input_tokens == 2 for result in results)
    assert all(result.usage.input_tokens > 20 for result in results)


def test_request_has_stop_sampling_and_grammar(server: Any, paid: Any) -> None:
    """The server's own sampling defaults are overridden."""
    paid.complete([request(6, choices=CHOICES)])
    (body,) = server.completions
    assert body["prompt"] == request(6).prompt
    assert body["stop"] == ["\n"]
    assert (body["temperature"], body["top_p"], body["max_tokens"]) == (0.1, 1.0, 100)
    assert (body["cache_prompt"], body["repeat_penalty"], body["top_k"], body["min_p"]) == (True, 1.0, 0, 0.0)
    assert body["grammar"] == 'root ::= "assert done" | "assert not done"'


def test_other_servers_get_no_llamacpp_settings(server: Any, engine: Any) -> None:
    """OpenAI's refuses unknown fields."""
    plain_engine = engine(llamacpp=False)
    plain_engine.complete([request(6, choices=CHOICES)])
    plain_engine.close()
    assert not {"grammar", "cache_prompt"} & set(server.completions[0])


def test_retry_after_of_a_busy_server_is_respected(server: Any, paid: Any, journal: Journal) -> None:
    """The answer counts once."""
    server.failures.append((429, {"retry-after": "0.05"}, {"error": {"message": "slow down"}}))
    server.failures.append((503, {"retry-after": "0.05"}, {"error": {"message": "loading model"}}))
    (result,) = paid.complete([request(6)])
    assert result.text.startswith("assert state == [5]")
    assert len(server.seen) == 3
    assert len(list(journal.of_kind("completion"))) == 1


@pytest.mark.parametrize(("status", "message"), [(401, "key"), (404, "m"), (500, "")])
def test_refused_request_raises_one_sentence(server: Any, status: Any, message: str, engine: Any) -> None:
    """It does not count as an invalid completion."""
    server.failures.extend([(status, {}, {"error": {"message": "no"}})] * 3)
    failing_engine = engine(retries=0)
    with pytest.raises(ProviderError, match=message) as caught:
        failing_engine.complete([request(6)])
    failing_engine.close()
    assert "\n" not in str(caught.value)


def test_unreachable_server_is_named(server: Any, engine: Any) -> None:
    server.close()
    failing_engine = engine(retries=0)
    with pytest.raises(ProviderError, match=r"127\.0\.0\.1"):
        failing_engine.complete([request(6)])
    failing_engine.close()


def test_too_long_prompt_loses_examples_until_it_fits(server: Any, paid: Any) -> None:
    """The question stays."""
    server.context = 900
    (result,) = paid.complete([request(6, examples=EXAMPLE * 40)])
    assert result.text.startswith("assert state == [5]")
    lengths = [len(body["prompt"]) for body in server.completions]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] <= 900 < lengths[0]
    assert all(body["prompt"].endswith(request(6).query) for body in server.completions)


def test_question_that_never_fits_is_an_error(server: Any, paid: Any) -> None:
    server.context = 20
    with pytest.raises(ProviderError, match="context"):
        paid.complete([request(6, examples=EXAMPLE * 3)])


def test_at_least_one_example_is_dropped() -> None:
    """Until none is left."""
    assert without_oldest("a\n\nb\n\nc\n\n") == "b\n\nc\n\n"
    examples = EXAMPLE * 5
    for _ in range(10):
        examples = without_oldest(examples)
    assert examples == ""


def test_second_engine_answers_from_the_journal(server: Any, tmp_path: Path) -> None:
    """The ledger counts earlier spending."""
    requests = [request(cell) for cell in (7, 6, 6)]
    with Journal(tmp_path) as journal:
        engine = make_engine(journal, server)
        first = engine.complete(requests)
        engine.close()
    assert len(server.completions) == 3, "the same question twice in a run is asked twice"
    with Journal(tmp_path) as journal:
        engine = make_engine(journal, server)
        again = engine.complete(requests)
        more = engine.complete([request(6), request(6, attempt=1), request(6, temperature=0.5)])
        engine.close()
        ledger = Ledger(Budget(steps=None), journal.events)
    assert [r.text for r in again] == [r.text for r in first]
    assert len(more) == 3
    assert len(server.completions) == ledger.calls == 6


def test_partly_failed_batch_keeps_its_answers(server: Any, tmp_path: Path) -> None:
    """Answers in flight are journaled before the error is raised."""
    requests = [request(cell) for cell in (7, 6, 5)]
    server.failures.append((400, {}, {"error": {"message": "no"}}))
    with Journal(tmp_path) as journal:
        engine = make_engine(journal, server, retries=0)
        with pytest.raises(ProviderError):
            engine.complete(requests)
        assert len(list(journal.of_kind("completion"))) == 2
        engine.close()
        engine = make_engine(journal, server)
        assert len(engine.complete(requests)) == 3
        engine.close()
    assert len(server.completions) == 4


@pytest.mark.parametrize(
    ("budget", "calls"),
    [
        (Budget(steps=None, calls=2), 2),
        (Budget(steps=None, tokens=60), None),
        (Budget(steps=None, seconds=0), 0),
    ],
)
def test_budget_is_never_exceeded(server: Any, budget: Any, calls: Any, engine: Any) -> None:
    """Requests end before the call that would exceed it."""
    limited_engine = engine(budget=budget)
    with pytest.raises(BudgetSpentError):
        [limited_engine.complete([request(cell)]) for cell in range(7)]
    limited_engine.close()
    assert calls is None or len(server.completions) == calls
    assert len(server.completions) < 7


@pytest.mark.parametrize("body", [{}, {"choices": []}, {"error": {"message": "odd"}}])
def test_response_that_is_no_completion_is_an_error(server: Any, body: Any, engine: Any) -> None:
    """Its status is 200."""
    server.failures.append((200, {}, body))
    new_engine = engine()
    with pytest.raises(ProviderError, match="not an answer"):
        new_engine.complete([request(6)])
    new_engine.close()


def test_chat_model_completes_the_next_line(server: Any, journal: Journal) -> None:
    """Instruction, examples, and the question with its choices; fences in the answer are removed."""
    llm: Any = select_engine("openai:m", None, server.address)
    chat_engine = PaidEngine(llm, Ledger(Budget(steps=None)), journal)
    first, second = chat_engine.complete([request(6), request(5, choices=CHOICES)])
    chat_engine.close()
    assert first.text.startswith("assert state == [5]")
    assert second.text.startswith("assert state == [4]")
    bodies = sorted(server.completions, key=lambda body: len(json.dumps(body)))
    roles = [message["role"] for message in bodies[1]["messages"]]
    assert roles == ["system", "user", "user"]
    assert bodies[1]["messages"][1]["content"] == EXAMPLE
    assert all(choice in bodies[1]["messages"][2]["content"] for choice in CHOICES)
    assert "next line" in bodies[0]["messages"][0]["content"]
