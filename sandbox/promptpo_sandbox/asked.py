"""Requests for plain data to untrusted modules: one guest answers one after the other, until it fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from promptpo_sandbox.guest import wire
from promptpo_sandbox.guest.plain import decode, encode
from promptpo_sandbox.guest.wire import message
from promptpo_sandbox.pipes import (
    MAX_BYTES_PER_CHARACTER,
    Guest,
    GuestGoneError,
    GuestTimeoutError,
    refuse,
)
from promptpo_sandbox.results import Failure, FailureKind, Limits, PlainData

T = TypeVar("T")

_MALFORMED = (GuestGoneError, ValueError, TypeError, LookupError, OverflowError, AttributeError)
"""Errors that taking forged data apart may raise."""


class AskFailedError(Exception):
    """A module failed to answer a request.

    Args:
        failure: What failed, and in which episode.
    """

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure)  # its own argument, so that it can be pickled
        self.failure = failure

    def __str__(self) -> str:
        where = "" if self.failure.seed is None else f" (episode of seed {self.failure.seed})"
        return f"{self.failure.message}{where}"


@dataclass
class Asked:
    """A guest that answers requests.

    Attributes:
        guest: The process that has loaded the module; None once the module has failed.
        limits: Limits of one request and its answer.
        end: Ends the guest.
        name: Name of the module in messages of failures.
        instead: What to do instead of disturbing the process; ends such a message.
        error: The exception raised for a failure.
        printed: Output of the module so far.
    """

    guest: Guest | None
    limits: Limits
    end: Callable[[], Any]
    name: str
    instead: str
    error: type[AskFailedError] = AskFailedError
    printed: bytes = b""

    def ask(
        self,
        what: str,
        request: PlainData,
        taken: Callable[[Any], T],
        *,
        values: int,
        seed: int | None = None,
    ) -> T:
        """Send a request and return the answer, as `taken` reads it.

        Args:
            what: The kind of request: "call", "score", "simulate" or "read"; see `promptpo_sandbox.guest.loop`.
            request: Its arguments.
            taken: Converts a decoded answer to the result, and raises if it is malformed.
            values: Maximum number of values in an answer.
            seed: Seed of the episode that the request is about.

        Raises:
            AskFailedError: The module failed; it cannot be used any more.
            PlainDataError: The request is not plain data.
        """
        data, seconds = message(wire.ASK, encode((what, request))), self.limits.call_seconds
        kind: FailureKind = "crashed"
        text, detail = f"{self.name} has failed before", ""
        try:
            if self.guest is not None:
                self.guest.send(data, seconds)
                ((_, answer),) = self.guest.answers(1, wire.ANSWER, seconds, self._note_output)
                if isinstance(answer, bytes):
                    return taken(decode(answer, max_values=values))
                kind, text, detail = answer
        except GuestTimeoutError:
            kind, text = "timeout", f"{self.name} took longer than {seconds:g} s; do less work"
        except _MALFORMED:
            text = f"{self.name} ended or disturbed its process{self.instead}"
        self.close()
        raise self.error(Failure(kind, text, detail, seed))

    def _note_output(self, kind: int, _lane: int, printed: bytes) -> None:
        if kind != wire.OUTPUT:
            refuse()
        self.printed += printed
        if len(self.printed) > MAX_BYTES_PER_CHARACTER * self.limits.output_bytes:
            raise GuestGoneError("the guest sent more output than it may")

    def close(self) -> None:
        """End the guest."""
        self.guest = None
        self.end()
