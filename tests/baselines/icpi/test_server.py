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
    """Asks for the state left of a cell."""
    query = f"assert state == [{cell}] and state != [4]\nstate = left()\n"
    return CompletionRequest(examples, query, "next", choices=choices, **settings)


def over(
    journal: Journal, server: Any, *, llamacpp: bool = True, budget: Any = None, retries: int = 6
) -> PaidEngine:
    """The real engine, without waits between retries that matter."""
    ledger = Ledger(budget or Budget(steps=None), journal.events)
    journal.listen(ledger.add)
    llm: Any = type("TextLLM", (TextLLM,), {"max_retries": retries, "busy_retries": retries})
    return PaidEngine(llm("m", base_url=server.address, llamacpp=llamacpp), ledger, journal)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    """That of a new run."""
    with Journal(tmp_path) as opened:
        yield opened


@pytest.fixture
def engine(server: Any, journal: Journal) -> Any:
    """Makes engines; see `over`."""
    return lambda **settings: over(journal, server, **settings)


@pytest.fixture
def paid(engine: Any) -> Iterator[Any]:
    """An engine without limits."""
    made = engine()
    yield made
    made.close()


@pytest.mark.slow
def test_a_batch_keeps_its_order(server: Any, paid: Any) -> None:
    """However the answers arrive, with tokens counted as the server counts them."""
    results = paid.complete([request(cell) for cell in (7, 1, 6, 2, 5)])
    assert [result.text.split(" and ")[0] for result in results] == [
        f"assert state == [{cell}]" for cell in (6, 0, 5, 1, 4)
    ]
    assert all(result.usage.cached_input_tokens == 2 for result in results)
    assert all(result.usage.input_tokens > 20 for result in results)


def test_what_is_sent(server: Any, paid: Any) -> None:
    """Stop at the line's end, the sampling settings, and the server's own defaults undone."""
    paid.complete([request(6, choices=CHOICES)])
    (body,) = server.completions
    assert body["prompt"] == request(6).prompt
    assert body["stop"] == ["\n"]
    assert (body["temperature"], body["top_p"], body["max_tokens"]) == (0.1, 1.0, 100)
    assert (body["cache_prompt"], body["repeat_penalty"], body["top_k"], body["min_p"]) == (True, 1.0, 0, 0.0)
    assert body["grammar"] == 'root ::= "assert done" | "assert not done"'


def test_a_plain_server_is_told_nothing_of_llamacpps(server: Any, engine: Any) -> None:
    """OpenAI's refuses what it does not know."""
    made = engine(llamacpp=False)
    made.complete([request(6, choices=CHOICES)])
    made.close()
    assert not {"grammar", "cache_prompt"} & set(server.completions[0])


def test_a_busy_server_is_asked_again_when_it_says(server: Any, paid: Any, journal: Journal) -> None:
    """Retry-After is honoured by the client; the answer counts once."""
    server.failures.append((429, {"retry-after": "0.05"}, {"error": {"message": "slow down"}}))
    server.failures.append((503, {"retry-after": "0.05"}, {"error": {"message": "loading model"}}))
    (result,) = paid.complete([request(6)])
    assert result.text.startswith("assert state == [5]")
    assert len(server.seen) == 3
    assert len(list(journal.of_kind("completion"))) == 1


@pytest.mark.parametrize(("status", "said"), [(401, "key"), (404, "m"), (500, "")])
def test_a_server_that_refuses_ends_the_run_in_one_sentence(
    server: Any, status: Any, said: str, engine: Any
) -> None:
    """An error is not an invalid completion."""
    server.failures.extend([(status, {}, {"error": {"message": "no"}})] * 3)
    made = engine(retries=0)
    with pytest.raises(ProviderError, match=said) as caught:
        made.complete([request(6)])
    made.close()
    assert "\n" not in str(caught.value)


def test_a_server_that_is_not_there_is_told(server: Any, engine: Any) -> None:
    """With its address."""
    server.close()
    made = engine(retries=0)
    with pytest.raises(ProviderError, match=r"127\.0\.0\.1"):
        made.complete([request(6)])
    made.close()


def test_a_prompt_that_is_too_long_loses_examples_until_it_fits(server: Any, paid: Any) -> None:
    """The question stays."""
    server.context = 900
    (result,) = paid.complete([request(6, examples=EXAMPLE * 40)])
    assert result.text.startswith("assert state == [5]")
    lengths = [len(body["prompt"]) for body in server.completions]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] <= 900 < lengths[0]
    assert all(body["prompt"].endswith(request(6).query) for body in server.completions)


def test_a_question_that_never_fits_is_an_error(server: Any, paid: Any) -> None:
    """Not an endless loop."""
    server.context = 20
    with pytest.raises(ProviderError, match="context"):
        paid.complete([request(6, examples=EXAMPLE * 3)])


def test_at_least_one_example_is_dropped() -> None:
    """Down to none."""
    assert without_oldest("a\n\nb\n\nc\n\n") == "b\n\nc\n\n"
    examples = EXAMPLE * 5
    for _ in range(10):
        examples = without_oldest(examples)
    assert examples == ""


def test_what_was_paid_for_is_not_asked_again(server: Any, tmp_path: Path) -> None:
    """A second engine over the same journal answers from it, and the ledger knows what was spent."""
    asked = [request(cell) for cell in (7, 6, 6)]
    with Journal(tmp_path) as journal:
        made = over(journal, server)
        first = made.complete(asked)
        made.close()
    assert len(server.completions) == 3, "the same question twice in a run is asked twice"
    with Journal(tmp_path) as journal:
        made = over(journal, server)
        again = made.complete(asked)
        more = made.complete([request(6), request(6, attempt=1), request(6, temperature=0.5)])
        made.close()
        ledger = Ledger(Budget(steps=None), journal.events)
    assert [r.text for r in again] == [r.text for r in first]
    assert len(more) == 3
    assert len(server.completions) == ledger.calls == 6


def test_a_batch_that_fails_in_part_keeps_the_rest(server: Any, tmp_path: Path) -> None:
    """What was in flight is journaled before the error is raised."""
    asked = [request(cell) for cell in (7, 6, 5)]
    server.failures.append((400, {}, {"error": {"message": "no"}}))
    with Journal(tmp_path) as journal:
        made = over(journal, server, retries=0)
        with pytest.raises(ProviderError):
            made.complete(asked)
        assert len(list(journal.of_kind("completion"))) == 2
        made.close()
        made = over(journal, server)
        assert len(made.complete(asked)) == 3
        made.close()
    assert len(server.completions) == 4


@pytest.mark.parametrize(
    ("budget", "calls"),
    [
        (Budget(steps=None, calls=2), 2),
        (Budget(steps=None, tokens=60), None),
        (Budget(steps=None, seconds=0), 0),
    ],
)
def test_a_limit_ends_the_asking(server: Any, budget: Any, calls: Any, engine: Any) -> None:
    """Before the call that would pass it."""
    made = engine(budget=budget)
    with pytest.raises(BudgetSpentError):
        [made.complete([request(cell)]) for cell in range(7)]
    made.close()
    assert calls is None or len(server.completions) == calls
    assert len(server.completions) < 7


@pytest.mark.parametrize("body", [{}, {"choices": []}, {"error": {"message": "odd"}}])
def test_an_answer_that_is_no_completion_is_told(server: Any, body: Any, engine: Any) -> None:
    """Status 200 with something else in it."""
    server.failures.append((200, {}, body))
    made = engine()
    with pytest.raises(ProviderError, match="not an answer"):
        made.complete([request(6)])
    made.close()


def test_a_chat_model_is_asked_for_the_next_line(server: Any, journal: Journal) -> None:
    """Instruction, examples, question with its choices; fences in the answer do not count."""
    llm: Any = select_engine("openai:m", None, server.address)
    made = PaidEngine(llm, Ledger(Budget(steps=None)), journal)
    first, second = made.complete([request(6), request(5, choices=CHOICES)])
    made.close()
    assert first.text.startswith("assert state == [5]")
    assert second.text.startswith("assert state == [4]")
    bodies = sorted(server.completions, key=lambda body: len(json.dumps(body)))
    roles = [message["role"] for message in bodies[1]["messages"]]
    assert roles == ["system", "user", "user"]
    assert bodies[1]["messages"][1]["content"] == EXAMPLE
    assert all(choice in bodies[1]["messages"][2]["content"] for choice in CHOICES)
    assert "next line" in bodies[0]["messages"][0]["content"]
