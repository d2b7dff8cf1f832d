"""Files and values that an attack must not touch, and a check whether it did."""

from __future__ import annotations

import contextlib
import os
import random
import secrets
import socket
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

MARK = "CANARY"
"""What attacks print if they succeed."""


LONG = {
    "MINUS": "-" * 90_000,
    "PLUS": "+".join("1" * 20_000),
    "ONES": "1," * 1_000_000,
    "NULL": "\0",
    "SURROGATE": "\ud800",
    "NAMES": "\n".join(f"x{i} = {i}" for i in range(20_000)),
    "LAMBDAS": "lambda: " * 1000,
}


class CanaryEnv(gymnasium.Env[Any, Any]):
    """Returns its own state array at every step, so that a policy with write access would change it."""

    observation_space = gymnasium.spaces.Box(-1e3, 1e3, (4,), np.float64)
    action_space = gymnasium.spaces.Discrete(3)

    def __init__(self) -> None:
        self.state = np.zeros(4)
        self.actions: list[int] = []
        self.seed = 0
        self.state[:] = self._start()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        self.seed, self.actions = seed or 0, []
        self.state[:] = self._start()
        return self.state, {}

    def _start(self) -> Any:
        return np.random.Generator(np.random.PCG64(self.seed)).uniform(-1, 1, 4)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.actions.append(action)
        self.state += action - 1.0
        return self.state, float(action), len(self.actions) >= 12, False, {}

    def untouched(self) -> bool:
        """Return whether the state results from the actions alone."""
        expected = self._start()
        for action in self.actions:
            expected += action - 1.0
        return bool(np.array_equal(expected, self.state))


class Canaries:
    """A secret file, a run directory, a listening port, and the host's own state.

    Args:
        directory: An empty directory to put them in.
    """

    def __init__(self, directory: Path) -> None:
        self.token = secrets.token_hex(16)
        self.secret = directory / "secret"
        self.secret.write_text(f"{MARK}-{self.token}\n")
        self.rundir = directory / "run"
        self.rundir.mkdir()
        (self.rundir / "journal.jsonl").write_text("{}\n")
        for path in (directory, self.rundir):
            path.chmod(0o777)  # file permissions must not be what stops an attack
        self.secret.chmod(0o666)
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.tcp.setblocking(False)
        self.port = self.tcp.getsockname()[1]
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", self.port))
        self.udp.setblocking(False)
        os.environ["CANARY_KEY"] = self.token
        self._before = self._snapshot()

    def arm(self, source: str) -> str:
        """Return an attack's source with its placeholders filled in."""
        values = {
            "SECRET": str(self.secret),
            "RUNDIR": str(self.rundir),
            "PORT": str(self.port),
            "HOSTPID": str(os.getpid()),
            **LONG,
        }
        for name, value in values.items():
            source = source.replace(f"@{name}@", value)
        return source

    def _snapshot(self) -> Any:
        files = {str(path): path.read_bytes() for path in sorted(self.rundir.rglob("*"))}
        secret = self.secret.read_bytes() if self.secret.exists() else None
        return files, secret, self.secret.stat().st_mode, random.getstate(), str(np.random.get_state())

    def harm(self, texts: list[str], output: str, envs: list[CanaryEnv]) -> list[str]:
        """Return the traces of an attack; empty if it was stopped.

        Args:
            texts: All returned text except the output.
            output: The attack's output.
            envs: The environments in which it ran.
        """
        traces = []
        if any(self.token in text for text in [*texts, output]):
            traces.append("the secret leaked")
        if MARK in output:
            traces.append(f"the attack got somewhere: {output[:300]}")
        if self._snapshot() != self._before:
            traces.append("a file or the host's random state changed")
        if not all(env.untouched() for env in envs):
            traces.append("the environment's state was changed")
        for name, listener in (("TCP", self.tcp.accept), ("UDP", lambda: self.udp.recvfrom(1))):
            with contextlib.suppress(BlockingIOError):
                listener()
                traces.append(f"something arrived by {name}")
        return traces

    def close(self) -> None:
        """Close the port."""
        self.tcp.close()
        self.udp.close()
        os.environ.pop("CANARY_KEY", None)
