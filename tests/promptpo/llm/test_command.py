"""Any program as a provider, by ``exec:COMMAND``."""

from __future__ import annotations

import asyncio
import resource
import shlex
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from promptpo.errors import ProviderError, UsageError
from promptpo.llm import command
from promptpo.llm.base import Message, Usage
from promptpo.llm.command import CommandLLM
from promptpo.llm.prices import Price
from tests.promptpo.llm.asking import REQUEST, ask, check_contract
from tests.waiting import is_running, says, wait_until


def python(code: str) -> str:
    """Return a command that runs this code."""
    return shlex.join([sys.executable, "-c", code])


def read_pid(path: Path) -> int:
    """Wait for a child to write a number into this file, and return it."""
    wait_until(lambda: says(path, "\n"))
    return int(path.read_text(encoding="utf-8"))


def test_prompt_is_passed_on_standard_input() -> None:
    """The system prompt comes first."""
    [completion] = ask(CommandLLM("cat"))
    assert completion.text == "You write policies.\n\nWrite one.\n"
    assert completion.model == "exec:cat"
    assert completion.cost_usd is None
    assert completion.usage == Usage(8, 0, 8, estimated_tokens=16)  # 29 and 32 characters, four to a token


def test_stated_price_gives_estimated_cost() -> None:
    """Every attempt counts, including those without text."""
    llm = CommandLLM("true", price=Price(1_000_000.0, 0.0))
    [completion] = ask(llm)
    assert completion.cost_usd == completion.usage.input_tokens == 3 * 8
    assert llm.capabilities.price_known
    assert not CommandLLM("true").capabilities.price_known


def test_odd_bytes_of_a_program_are_escaped() -> None:
    """Invalid UTF-8, lone surrogates in the prompt and escape sequences in the error."""
    [completion] = ask(CommandLLM("cat"), replace(REQUEST, messages=(Message("user", "a\udc80b"),)))
    assert completion.text.endswith("a\\udc80b\n")
    with pytest.raises(ProviderError) as caught:
        ask(CommandLLM(python(r"import sys; sys.exit('\x1b]0;title\x07 went wrong')")))
    assert str(caught.value).isprintable()
    assert r"\x1b]0;title\x07 went wrong" in str(caught.value)


def test_turns_have_headings() -> None:
    """A single message has none."""
    turns = (Message("user", "one"), Message("assistant", "two"), Message("user", "three"))
    [completion] = ask(CommandLLM("cat"), replace(REQUEST, messages=turns, system=""))
    assert completion.text == "[user]\none\n\n[assistant]\ntwo\n\n[user]\nthree\n"


def test_program_inherits_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """It finds its own settings there."""
    monkeypatch.setenv("MY_TOOL_SETTING", "here")
    assert ask(CommandLLM(python("import os; print(os.environ['MY_TOOL_SETTING'])")))[0].text == "here\n"


def test_failure_shows_the_last_line_of_standard_error() -> None:
    with pytest.raises(ProviderError, match=r"failed with status 1: ValueError: no such model$"):
        ask(CommandLLM(python("raise ValueError('no such model')")))


def test_empty_answer_is_requested_again(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    code = f"import pathlib; p = pathlib.Path({str(flag)!r}); print('now' if p.exists() else ''); p.touch()"
    assert ask(CommandLLM(python(code)))[0].text == "now\n"


def test_large_prompt_and_answer_do_not_block() -> None:
    """Both exceed the size of a pipe."""
    text = "x" * 3_000_000
    [completion] = ask(CommandLLM("cat"), replace(REQUEST, messages=(Message("user", text),)))
    assert text in completion.text


def test_program_may_ignore_its_input() -> None:
    big = replace(REQUEST, messages=(Message("user", "x" * 1_000_000),))
    assert ask(CommandLLM("echo hello"), big)[0].text == "hello\n"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("yes", "yes wrote more than 4 MB"),
        ("sh -c 'yes & yes >&2; wait'", "sh wrote more than 4 MB"),
        ("sh -c 'yes >&2'", "sh gave no answer within 0.3 s"),
        ("sh -c 'yes complaint | head -n 1000000 >&2; exit 3'", "sh failed with status 3: complaint"),
    ],
)
def test_endless_output_is_cut_off(command: str, message: str) -> None:
    """Memory stays bounded on both streams, and the writer is killed."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ProviderError, match=message):
        ask(CommandLLM(command, timeout=0.3 if "within" in message else 60))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10  # in KB


@pytest.mark.parametrize("after", [0.0, 0.002, 0.005])
def test_cancelling_during_the_start_leaves_no_process(after: float) -> None:
    """A surviving child would keep the event loop waiting."""

    async def run() -> None:
        task = asyncio.ensure_future(CommandLLM("sh -c 'sleep 60 & wait'", timeout=60).complete(REQUEST))
        await asyncio.sleep(after)
        task.cancel()
        await task

    started = time.monotonic()
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())
    assert time.monotonic() - started < 40


@pytest.mark.parametrize("how", ["timeout", "cancel"])
def test_whole_process_group_is_killed(tmp_path: Path, how: str) -> None:
    """This holds on timeout and on cancellation."""
    pid_file = tmp_path / "pid"
    program = f"sh -c 'sleep 600 & echo $! > {pid_file}; wait'"

    async def run(seconds: float) -> None:
        task = asyncio.ensure_future(CommandLLM(program, timeout=seconds).complete(REQUEST))
        if how == "cancel":
            await asyncio.to_thread(read_pid, pid_file)
            task.cancel()
        await task

    for seconds in (0.3, 3, 30, 100) if how == "timeout" else (300,):
        with pytest.raises(ProviderError if how == "timeout" else asyncio.CancelledError):
            asyncio.run(run(seconds))
        if pid_file.exists():  # otherwise the machine was too busy to start it
            break
    pid = read_pid(pid_file)
    wait_until(lambda: not is_running(pid))


def test_daemon_with_open_pipes_does_not_block_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has left the process group, so it is not killed."""
    monkeypatch.setattr(command, "EXIT_SECONDS", 0.1)
    started = time.monotonic()
    with pytest.raises(ProviderError, match="no answer within"):
        ask(CommandLLM("sh -c 'setsid sleep 60 & wait'", timeout=0.3))
    assert time.monotonic() - started < 40


@pytest.mark.parametrize("command", ["no-such-program-anywhere --x", "'unclosed", " "])
def test_unusable_command_is_refused(command: str) -> None:
    with pytest.raises(UsageError):
        CommandLLM(command)


def test_deleted_program_is_a_provider_error(tmp_path: Path) -> None:
    program = tmp_path / "tool"
    program.write_text("#!/bin/sh\necho hi\n", encoding="utf-8")
    program.chmod(0o700)
    llm = CommandLLM(str(program))
    program.unlink()
    with pytest.raises(ProviderError, match="cannot start"):
        ask(llm)


def test_command_keeps_the_contract_of_providers() -> None:
    asyncio.run(check_contract(CommandLLM("cat")))
