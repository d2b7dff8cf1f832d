"""``exec:COMMAND``: a program that reads a prompt from standard input and writes the answer to standard output."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import shutil
import signal
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from promptpo.errors import FatalProviderError, ProviderError, UsageError
from promptpo.llm.base import Capabilities, estimate_usage
from promptpo.llm.provider import Provider, Reply
from promptpo_sandbox.text import clean, clean_name

if TYPE_CHECKING:
    from promptpo.llm.base import Message, Pricing, Request

TIMEOUT_SECONDS = 3600.0
"""Time limit for an answer; a person, or a local reasoning model, may take an hour."""

MAX_ANSWER_BYTES = 1 << 22

EXIT_SECONDS = 2.0
_EXCERPT = 200


class TextProvider(Provider):
    """A provider that maps a prompt as text to an answer as text; tokens are estimated."""

    capabilities = Capabilities(sees=None, stays_here=True)

    @abstractmethod
    async def _answer(self, request: Request, text: str) -> str:
        """Return the answer to a request; `text` is the request as text."""

    async def _ask(self, request: Request, limit: int) -> Reply:
        del limit
        text = await self._answer(request, clean(as_text(request)))
        return Reply(text, self.model, "stop", estimate_usage(request, text))


class CommandLLM(TextProvider):
    """Run a command for each request, as the user and with the user's environment.

    The program reads the system prompt and the conversation as text from standard input, and its standard output is
    the answer. It is started without a shell in its own process group, which is killed if the request is cancelled or
    takes too long.

    Args:
        command: Program and arguments, quoted as in a shell.
        timeout: Seconds for one answer.
        price: Price of tokens, which are estimated.

    Raises:
        UsageError: The command cannot be parsed, or there is no such program.
    """

    def __init__(
        self, command: str, *, timeout: float = TIMEOUT_SECONDS, price: Pricing | None = None
    ) -> None:
        try:
            self._argv = shlex.split(command)
        except ValueError as error:
            raise UsageError(f"cannot read the command in exec:{command}: {error}.") from error
        if not self._argv or shutil.which(self._argv[0]) is None:
            raise UsageError(f"exec:{command} names a program that does not exist; write its path.")
        super().__init__(f"exec:{command}", f"exec:{command}", price)
        self._timeout = timeout

    async def _answer(self, request: Request, text: str) -> str:
        """Return the program's answer.

        Raises:
            ProviderError: The program fails, takes too long or writes too much.
        """
        del request
        pipe = asyncio.subprocess.PIPE
        starting = asyncio.ensure_future(
            asyncio.create_subprocess_exec(
                *self._argv, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
            )
        )
        try:
            process = await asyncio.shield(starting)
        except OSError as error:
            raise FatalProviderError(f"cannot start {self._argv[0]}: {error.strerror}.") from error
        except asyncio.CancelledError:
            with contextlib.suppress(OSError):  # it may already run, with children
                await _kill(await starting)
            raise
        try:
            async with asyncio.timeout(self._timeout):
                out, err = await self._communicate(process, text.encode())
        except TimeoutError as error:
            await _kill(process)
            raise ProviderError(f"{self._argv[0]} gave no answer within {self._timeout:g} s.") from error
        except (asyncio.CancelledError, ProviderError):
            await _kill(process)
            raise
        if process.returncode != 0:
            raise ProviderError(f"{self._argv[0]} failed with status {process.returncode}: {_last_line(err)}")
        return out.decode(errors="backslashreplace")

    async def _communicate(self, process: Any, prompt: bytes) -> tuple[bytes, bytes]:
        """Send the prompt to the program; return its standard output and the end of its standard error."""
        process.stdin.write(prompt)
        process.stdin.close()
        complaints = asyncio.ensure_future(_end_of(process.stderr))
        try:
            await process.stdout.readexactly(MAX_ANSWER_BYTES + 1)
        except asyncio.IncompleteReadError as whole:
            await process.wait()
            return whole.partial, await complaints
        finally:
            complaints.cancel()
        raise ProviderError(
            f"{self._argv[0]} wrote more than {MAX_ANSWER_BYTES >> 20} MB, the limit for an answer."
        )


def as_text(request: Request) -> str:
    """Return a request as one text: the system prompt, then the conversation, with a heading for each of several turns."""
    parts = [request.system] if request.system else []
    turns = [_with_paths(message) for message in request.messages]
    if len(turns) == 1:
        parts.append(turns[0])
    else:
        parts += [f"[{message.role}]\n{text}" for message, text in zip(request.messages, turns, strict=True)]
    return "\n\n".join(parts) + "\n"


def _with_paths(message: Message) -> str:
    """Return a turn as text, with the paths of its images."""
    images = [f"{image.caption}\nPicture: {image.path}" for image in message.images if image.path]
    return "\n\n".join([message.content.rstrip("\n"), *images]) if images else message.content


async def _end_of(stream: asyncio.StreamReader) -> bytes:
    end = b""
    while more := await stream.read(10 * _EXCERPT):
        end = (end + more)[-10 * _EXCERPT :]
    return end


async def _kill(process: asyncio.subprocess.Process) -> None:
    """Kill the process group, which may outlive the program, and reap the program."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    # Waiting ends when the pipes are closed, but a process that left the group may hold them open.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(EXIT_SECONDS):
            await process.wait()


def _last_line(stderr: bytes) -> str:
    lines = stderr.decode(errors="replace").strip().splitlines()
    return clean_name(lines[-1])[:_EXCERPT] if lines else "it wrote nothing to standard error."
