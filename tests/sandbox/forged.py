"""A forged guest: a thread at the other end of real pipes that answers as it likes."""

from __future__ import annotations

import contextlib
import os
import random
import struct
import threading
from collections.abc import Callable
from typing import Any

from promptpo_sandbox.asked import Asked
from promptpo_sandbox.guest import wire
from promptpo_sandbox.guest.plain import decode, encode
from promptpo_sandbox.guest.wire import HEADER, message
from promptpo_sandbox.lockstep.rollout import Guests
from promptpo_sandbox.pipes import Guest
from promptpo_sandbox.process import GuestUsage
from promptpo_sandbox.results import Limits

Answer = Callable[[random.Random, int, int], bytes]
"""Maps a random generator, the kind of the host's message and the number of lanes to the bytes sent back."""

KINDS = (
    wire.READY,
    wire.ACTIONS,
    wire.FAILED,
    wire.OUTPUT,
    wire.ANSWER,
    wire.DEBUG,
    wire.SEEN,
    wire.LANES,
    0,
    255,
)
ODD_NUMBERS = (0, 1, -1, 2**31, -(2**31), 2**62, 2**63 - 1, -(2**63))
ODD_FLOATS = (float("nan"), float("inf"), -float("inf"), 1e308, -0.0, 5e-324)


def odd_value(chance: random.Random, depth: int = 0) -> Any:
    """Return plain data of any kind, valid for a space only by accident."""
    import numpy as np

    leaves: list[Callable[[], Any]] = [
        lambda: None,
        lambda: chance.random() < 0.5,
        lambda: chance.choice(ODD_NUMBERS),
        lambda: 10 ** chance.randrange(1, 3000),
        lambda: chance.choice(ODD_FLOATS),
        lambda: "".join(chance.choice("ab\x1b\n\ud800\u202e") for _ in range(chance.randrange(6))),
        lambda: bytes(chance.randrange(256) for _ in range(chance.randrange(6))),
        lambda: np.array([chance.choice(ODD_FLOATS) for _ in range(chance.randrange(4))]),
        lambda: np.zeros(
            [chance.randrange(3) for _ in range(chance.randrange(4))], chance.choice(["<i8", "<U3", "?"])
        ),
    ]
    if depth < 3 and chance.random() < 0.5:
        n = chance.randrange(4)
        items = [odd_value(chance, depth + 1) for _ in range(n)]
        return chance.choice(
            [items, tuple(items), {chance.choice(["a", "b", chance.randrange(99)]): item for item in items}]
        )
    return chance.choice(leaves)()


def damage(chance: random.Random, data: bytes) -> bytes:
    """Return the bytes with a few of them changed, removed, repeated or added."""
    raw = bytearray(data)
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(raw) + 1)
        what = chance.randrange(4)
        if what == 0 and raw:
            raw[at % len(raw)] = chance.randrange(256)
        elif what == 1:
            del raw[at:]
        elif what == 2:
            raw[at:at] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 20)))
        else:
            raw += raw[:at]
    return bytes(raw)


def forge_message(chance: random.Random, kind: int, lanes: int) -> bytes:
    """Return arbitrary bytes, more or less like a message."""
    what = chance.randrange(8)
    if what == 0:
        return os.urandom(chance.randrange(40))
    if what == 1:
        return HEADER.pack(chance.choice(KINDS), chance.choice((0, 0, 1)), chance.randrange(5), 2**32 - 1)
    if what == 2:
        return message(
            wire.OUTPUT, b"x" * chance.choice((0, 1, 3000)), chance.randrange(4)
        ) * chance.randrange(1, 40)
    if what == 3:
        return message(wire.FAILED, encode(("crashed", odd_text(chance), odd_text(chance))))
    if what == 4:
        return message(chance.choice(KINDS), encode(odd_value(chance)), chance.randrange(0, 4))
    if what == 5:
        rows = struct.pack("<q", chance.choice(ODD_NUMBERS)) * max(1, lanes)
        return message(wire.ACTIONS, rows, max(1, lanes))
    if what == 6:
        return message(wire.ACTIONS, encode([odd_value(chance) for _ in range(max(1, lanes))]), max(1, lanes))
    return b""  # silence


def odd_text(chance: random.Random) -> str:
    """Return text with characters that must not reach a terminal."""
    return "".join(
        chance.choice("word \x1b]0;title\x07\ud800\u2028\r\n\x9b") for _ in range(chance.randrange(30))
    )


class Forgers:
    """Starts forged guests: threads that answer some messages truthfully and then forge.

    Args:
        truthful: Returns a good guest's answer for a number of lanes.
        chance: Source of all decisions.
        limits: The host's limits.
        forge: Returns the bytes sent instead of the truth.
        truths: Numbers of truthful answers, of which each guest picks one.
    """

    def __init__(
        self,
        truthful: Callable[[int], bytes],
        chance: random.Random,
        limits: Limits,
        forge: Answer = forge_message,
        truths: tuple[int, ...] = (0, 1, 2, 3, 5, 9, 10**9),
    ) -> None:
        self._truths = truths
        self._truthful = truthful
        self._chance = chance
        self._limits = limits
        self._forge = forge
        self._open: tuple[Guest, threading.Thread] | None = None
        self.count = 0

    def guests(self) -> Guests:
        """Return the interface that the runner expects."""
        return Guests(self._new, self._end)

    def _new(self) -> Guest:
        self._end()
        self.count += 1
        their_reading, writing = os.pipe()
        reading, their_writing = os.pipe()
        for descriptor in (reading, writing):
            os.set_blocking(descriptor, False)
        guest = Guest(reading, writing, self._limits)
        seed = self._chance.random()
        thread = threading.Thread(target=self._play, args=(their_reading, their_writing, random.Random(seed)))
        thread.start()
        self._open = guest, thread
        return guest

    def _end(self) -> GuestUsage | None:
        if self._open is None:
            return None
        guest, thread = self._open
        self._open = None
        guest.close()
        thread.join()
        return GuestUsage(9, 0.0)

    def _play(self, reading: int, writing: int, chance: random.Random) -> None:
        """Play the guest: truthful at first, then forging, and sometimes hanging up."""
        truths = chance.choice(self._truths)
        lanes: set[int] = set()
        with os.fdopen(reading, "rb") as host, contextlib.suppress(OSError, struct.error):
            try:
                while True:
                    kind, _, _, length = HEADER.unpack(host.read(HEADER.size))
                    payload = host.read(length)
                    starting = 0
                    if kind == wire.LAYOUT:
                        continue
                    if kind == wire.LANES:
                        request = decode(payload)
                        starting = len(request["start"])
                        lanes = (lanes - {*request["stop"]}) | {lane for lane, *_ in request["start"]}
                    truths -= 1
                    if truths >= 0:
                        os.write(writing, self._truth(kind, starting, len(lanes)))
                        continue
                    os.write(writing, self._forge(chance, kind, starting or len(lanes)))
                    ending = chance.randrange(6)
                    if ending == 0:
                        return  # hang up
                    if ending == 1:
                        truth = self._truth(kind, starting, len(lanes))
                        os.write(writing, damage(chance, truth))
            finally:
                os.close(writing)

    def _truth(self, kind: int, starting: int, lanes: int) -> bytes:
        if kind == wire.LOAD:
            return message(wire.READY, b"", 1)
        if kind == wire.LANES:
            return message(wire.READY, b"", starting) if starting else b""
        return self._truthful(lanes)


def read_answer(data: bytes, taken: Callable[[Any], Any], values: int) -> Any:
    """Return the value of an answer that consists of these bytes.

    Raises:
        AskFailedError: They are no answer.
    """
    forgers = Forgers(
        lambda _: b"", random.Random(0), Limits(), lambda *_: message(wire.ANSWER, data, 1), truths=(0,)
    )
    guests = forgers.guests()
    asked = Asked(guests.new(), Limits(), guests.end, "it", "")
    try:
        return asked.ask("replay", None, taken, values=values)
    finally:
        asked.close()
