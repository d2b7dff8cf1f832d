"""An environment with a simulator in its own process, and ways in which such environments end badly."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from tests.waiting import is_running


def _block() -> None:
    while True:
        time.sleep(0.05)


def _fail(error: BaseException) -> None:
    raise error


CLOSES = {
    "well": lambda: None,
    "raises": lambda: _fail(RuntimeError("viewer already closed")),
    "asserts": lambda: _fail(AssertionError()),
    "leaves": lambda: _fail(SystemExit(0)),
    "hangs": _block,
    "hangs in C": lambda: signal.sigwait([signal.SIGUSR1]),
}
"""Actions of `close` besides ending the simulator."""

HABITS = {
    "none": lambda: None,
    "thread": lambda: threading.Thread(target=_block).start(),
    "deaf": lambda: [signal.signal(n, signal.SIG_IGN) for n in (signal.SIGTERM, signal.SIGINT)],
    "leaves": lambda: signal.signal(signal.SIGTERM, lambda *_: _fail(SystemExit(0))),
}
"""Actions of the constructor besides starting the simulator."""

STEPS = {
    "well": lambda: None,
    "hangs": _block,
    "os._exit(0)": lambda: os._exit(0),
    "exit(0)": lambda: _fail(SystemExit(0)),
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "raises": lambda: _fail(ValueError("mine")),
}
"""Actions in the fifth step of an episode."""


HOLD = "hold"
"""Name of a file beside the log: while it is there, no episode gets beyond its fifth step."""


class Simulator(gymnasium.Env[Any, Any]):
    """Notes in a file when its simulator starts and when it was closed.

    Args:
        log: The file.
        close: Of `CLOSES`.
        habit: Of `HABITS`.
        step: Of `STEPS`.
        forgets: Whether `close` leaves the simulator running.
    """

    observation_space = spaces.Box(-1, 1, (2,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(
        self, log: str, close: str = "well", habit: str = "none", step: str = "well", *, forgets: bool = False
    ) -> None:
        self.log, self.forgets = Path(log), forgets
        self.closing, self.stepping = CLOSES[close], STEPS[step]
        self.process = subprocess.Popen(["sleep", "600"])
        self._note("start")
        HABITS[habit]()

    def _note(self, what: str) -> None:
        with self.log.open("a") as file:
            file.write(f"{what} {self.process.pid}\n")

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.n = 0
        return self.np_random.uniform(-1, 1, 2).astype(np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.n += 1
        if self.n == 5:
            while self.log.with_name(HOLD).exists():
                time.sleep(0.02)
            self.stepping()
        return self.np_random.uniform(-1, 1, 2).astype(np.float32), float(action), False, self.n == 20, {}

    def close(self) -> None:
        self._note("close")
        if not self.forgets:
            self.process.kill()
            self.process.wait()
        self.closing()


def counts(log: Path) -> tuple[int, int]:
    """Return how many simulators were started and how many environments were closed."""
    lines = log.read_text().splitlines() if log.exists() else []
    return sum(line.startswith("start") for line in lines), sum(line.startswith("close") for line in lines)


def running(log: Path, seconds: float = 60.0) -> list[int]:
    """Return the ids of simulators that still run after up to `seconds`."""
    pids = [int(line.split()[1]) for line in log.read_text().splitlines() if line.startswith("start")]
    deadline = time.monotonic() + seconds
    while any(map(is_running, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return [pid for pid in pids if is_running(pid)]
