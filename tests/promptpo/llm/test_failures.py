"""Failing requests are retried if that helps, and otherwise give one clear sentence."""

from __future__ import annotations

import asyncio
import logging
import re
import socket
import traceback
from types import SimpleNamespace

import pytest

from promptpo.errors import FatalProviderError, MissingKeyError, ProviderError
from promptpo.llm.base import Completion
from promptpo.llm.failures import public_address
from promptpo.llm.retrying import Retries
from tests.promptpo.llm.asking import KEY, REQUEST, Provider, ask
from tests.promptpo.llm.wire_server import Reply, WireServer

NO_MONEY = "Your credit balance is too low to access the API."


@pytest.mark.slow
def test_rate_limit_is_waited_out(provider: Provider, server: WireServer) -> None:
    """The client waits as long as Retry-After says."""
    server.script(Reply("slow down", status=429, headers={"retry-after": "0.2"}))
    assert ask(provider.make())[0].text == "an answer"
    first, second = server.seen
    assert second.time - first.time >= 0.2


@pytest.mark.parametrize("fault", [Reply("oops", status=500), Reply(drop=True)], ids=["500", "dropped"])
def test_transient_fault_is_retried(provider: Provider, server: WireServer, fault: Reply) -> None:
    """It costs one request, not the call."""
    server.script(fault)
    assert ask(provider.make())[0].text == "an answer"
    assert len(server.seen) == 2


LASTING_FAULTS = {
    "500": Reply("oops", status=500),
    "529": Reply("overloaded", status=529),
    "dropped": Reply(drop=True),
    "in an answer": Reply(raw=b'{"type": "error", "error": {"message": "oops"}}', whole=True),
    "broken stream": Reply(break_after=0),
}


@pytest.mark.parametrize("calls", [1, 4])
@pytest.mark.parametrize("name", LASTING_FAULTS)
def test_retries_do_not_multiply(
    provider: Provider, server: WireServer, name: str, calls: int, caplog: pytest.LogCaptureFixture
) -> None:
    """A lasting fault costs the same few logged retries however many calls meet it; later calls cost one request."""
    server.otherwise = LASTING_FAULTS[name]
    llm = provider.make(max_retries=3)
    close, llm.aclose = llm.aclose, lambda: asyncio.sleep(0)

    async def fail(count: int) -> list[BaseException | Completion]:
        return await asyncio.gather(*(llm.complete(REQUEST) for _ in range(count)), return_exceptions=True)

    async def fail_twice() -> None:
        errors = await fail(calls)
        assert all(type(error) is ProviderError for error in errors)
        assert len(server.seen) == calls + 3
        assert caplog.text.count("Trying again in") == 3
        await fail(2)
        assert len(server.seen) == calls + 3 + 2
        server.otherwise = Reply()
        assert (await llm.complete(REQUEST)).text == "an answer"
        server.script(LASTING_FAULTS[name])
        assert (await llm.complete(REQUEST)).text == "an answer"
        await close()

    asyncio.run(fail_twice())


def test_rate_limited_calls_are_all_answered_on_retry(provider: Provider, server: WireServer) -> None:
    """Four at once, each answered by its second request."""
    server.script(*[Reply("slow down", status=429)] * 4)
    answers = ask(provider.make(), *[REQUEST] * 4)
    assert [answer.text for answer in answers] == ["an answer"] * 4
    assert len(server.seen) == 8


def test_long_retry_after_ends_the_call(provider: Provider, server: WireServer) -> None:
    server.otherwise = Reply("come back later", status=429, headers={"retry-after": "3600"})
    with pytest.raises(ProviderError, match="come back later"):
        ask(provider.make())
    assert len(server.seen) == 1


@pytest.mark.parametrize("status", [429, 503, 529])
def test_busy_service_is_retried_longer_than_a_broken_one(
    provider: Provider, server: WireServer, status: int
) -> None:
    """Rate limits are per minute, while other faults rarely pass after a few seconds."""
    server.script(*[Reply("too much to do", status=status)] * 4)
    assert ask(provider.make(max_retries=1, busy_retries=4))[0].text == "an answer"
    server.script(*[Reply("oops", status=500)] * 4)
    with pytest.raises(ProviderError, match="oops"):
        ask(provider.make(max_retries=1, busy_retries=4))
    assert len(server.seen) == 5 + 2


@pytest.mark.parametrize(("asked", "waits"), [(90, True), (3600, False)])
def test_pause_of_minutes_is_kept_but_not_of_hours(asked: int, waits: bool) -> None:
    headers = {"retry-after": str(asked)}
    error = SimpleNamespace(status_code=429, body={}, response=SimpleNamespace(headers=headers))
    assert Retries(1, 1).allow(error, 0, "busy") == waits


def test_timeout_names_its_limit(provider: Provider, server: WireServer) -> None:
    """An answer within the limit is accepted."""
    server.script(Reply(delay=0.25), Reply(delay=60))
    assert ask(provider.make(max_retries=0, timeout=60.0))[0].text == "an answer"
    with pytest.raises(ProviderError, match=r"within 0\.1 s"):
        ask(provider.make(max_retries=0, timeout=0.1))


@pytest.mark.parametrize(
    ("reply", "fatal", "says"),
    [
        (Reply("invalid x-api-key", status=401), True, "refused the key in KEYVAR"),
        (Reply("payment required", status=402), True, "no credit or quota left"),
        (Reply(NO_MONEY, status=400), True, "no credit or quota left"),
        (Reply("You exceeded your current quota", status=429), True, "no credit or quota left"),
        (Reply("Budget has been exceeded! Max budget: 0.5", status=400), True, "no credit or quota left"),
        (Reply("no access", status=403), True, "may not use model-1"),
        (Reply("no such model", status=404), True, "model 'model-1'"),
        (
            Reply("prompt is too long: 300000 tokens > 200000", status=400),
            False,
            "do not fit into the context",
        ),
        (
            Reply("This model's maximum context length is 8192", status=400),
            False,
            "lower --max-prompt-tokens",
        ),
        (
            Reply(
                "The decoder prompt (length 9120) is longer than the maximum model length of 8192.",
                status=400,
            ),
            False,
            "do not fit into the context",
        ),
        (Reply("request too large", status=413), False, "do not fit into the context"),
        (Reply("too many requests", status=429), False, "fewer candidates at once"),
        (Reply("overloaded", status=529), False, "failed with status 529"),
        (Reply("max_tokens must be at least 1", status=400), False, "max_tokens must be at least 1"),
    ],
)
def test_error_is_one_clear_sentence(
    provider: Provider, server: WireServer, reply: Reply, fatal: bool, says: str
) -> None:
    """It says what to do and whether later calls can succeed."""
    server.otherwise = reply
    with pytest.raises(
        ProviderError, match=re.escape(says.replace("KEYVAR", provider.key_variable))
    ) as caught:
        ask(provider.make(max_retries=0))
    assert isinstance(caught.value, FatalProviderError) == fatal
    assert "\n" not in str(caught.value)
    assert reply.text in str(caught.value)


def test_missing_key_is_not_called_refused(
    provider: Provider, server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The placeholder that was sent is not shown either."""
    monkeypatch.delenv(provider.key_variable)
    server.otherwise = Reply("key expected; received no-key", status=401)
    with pytest.raises(FatalProviderError, match=f"requires a key; set {provider.key_variable}") as caught:
        ask(provider.make(max_retries=0))
    assert "refused" not in str(caught.value)
    assert "no-key" not in str(caught.value)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(raw=b"<html><body>Welcome to my router</body></html>"),
        Reply(raw=b""),
        Reply(raw=b"null"),
        Reply(raw=b'"text"'),
        Reply(raw=b'{"choices": [], "content": null}'),
        Reply(raw=b'{"choices": [{}], "content": [{}]}'),
        Reply(raw=b'{"choices": [{"mess'),
    ],
    ids=["html", "nothing", "null", "text", "no choices", "hollow", "torn"],
)
def test_response_that_is_no_answer_names_the_address(
    provider: Provider, server: WireServer, reply: Reply
) -> None:
    """Such as the web page of another kind of server."""
    server.otherwise = reply
    with pytest.raises(ProviderError, match="something that is not an answer") as caught:
        ask(provider.make(max_retries=0))
    assert server.address in str(caught.value)


def test_refused_connection_names_the_address(provider: Provider) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(ProviderError, match=f"cannot reach {address}"):
        ask(provider.make(base_url=address, max_retries=0))


@pytest.mark.parametrize(
    "fault",
    [
        Reply(f"Incorrect API key provided: {KEY}", status=401),
        Reply(f"bad request with {KEY} in it", status=400),
        Reply(raw=f"<html>{KEY}</html>".encode()),
        Reply(drop=True),
        Reply("oops", status=500),
        Reply(),
    ],
    ids=["401", "400", "html", "dropped", "500", "ok"],
)
def test_key_shows_nowhere(
    provider: Provider, server: WireServer, fault: Reply, caplog: pytest.LogCaptureFixture
) -> None:
    """It must not be in logs of any level, a repr, an error, or an exception chained to it."""
    server.otherwise = fault
    llm = provider.make(max_retries=0)
    shown = [repr(llm), str(llm), repr(vars(llm))]
    with caplog.at_level(logging.DEBUG):
        try:
            shown.append(repr(ask(llm)))
        except ProviderError as error:
            shown += [repr(error), *traceback.format_exception(error)]
            shown += [repr(error.__cause__), repr(error.__context__)]
    shown += [f"{record.getMessage()} {record.args} {record.exc_text}" for record in caplog.records]
    assert len(server.seen) == 1
    assert not [text for text in shown if KEY in text]


@pytest.mark.parametrize("key", ["x", "e", "EMPTY", "no"])
def test_short_placeholder_key_is_hidden_only_as_a_word(
    provider: Provider, server: WireServer, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Local servers accept any key, and letters of their messages must not be struck out."""
    monkeypatch.setenv(provider.key_variable, key)
    server.otherwise = Reply(f"unexpected endpoint; nobody knows the key {key}", status=400)
    with pytest.raises(ProviderError, match=r"unexpected endpoint; nobody knows the key \*\*\*"):
        ask(provider.make())


def test_password_in_the_address_is_not_shown(provider: Provider, server: WireServer) -> None:
    server.otherwise = Reply("no", status=400)
    secret = provider.base_url.replace("http://", "http://me:hunter2@")
    with pytest.raises(ProviderError, match=re.escape(server.address)) as caught:
        ask(provider.make(base_url=secret))
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://[::1]:8080/v1/", "https://api.openai.com/v1/"])
def test_public_address_keeps_the_rest(url: str) -> None:
    """Only secret parts are removed."""
    assert public_address(url) == url


def test_unusable_key_is_not_shown(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that no header can carry is refused before a client can quote it."""
    monkeypatch.setenv(provider.key_variable, f"{KEY} # my key")
    with pytest.raises(MissingKeyError, match=f"the value of {provider.key_variable} is not a key") as caught:
        provider.make()
    assert KEY not in str(caught.value)
