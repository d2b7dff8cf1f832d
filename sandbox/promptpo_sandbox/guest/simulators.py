"""Requests to a guest that holds a simulator: predictions, episodes of policies, batches of steps for a learner.

Every question is about many lanes and many steps; what is asked never holds the answers, which stay with the host.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from types import CodeType
from typing import Any, TypeAlias

import numpy as np

from promptpo_sandbox.gate.check import Rejected
from promptpo_sandbox.guest.construct import compile_source
from promptpo_sandbox.guest.errors import ContractError, InsideError, describe_failure, describe_failure_of
from promptpo_sandbox.guest.lanes import Array, Form, LaneSimulator
from promptpo_sandbox.guest.players import (
    CopyPlayer,
    LanePlayer,
    Namespaces,
    SharedPlayer,
    Vectors,
    differing_lane,
)
from promptpo_sandbox.guest.trials import examine

Run: TypeAlias = Callable[[bytes, CodeType | None], dict[str, Any]]
"""Runs the loaded module, or another code, afresh; the bytes decide its random numbers."""

DROP_SHARE = 0.75
"""Lanes that have ended are dropped when no more than this share still runs."""

COMPARED_STEPS = 40
"""Steps in which a policy in lanes is held against lone copies."""


class SimulatorFailedInsideError(InsideError):
    """A simulator, as opposed to a policy, raised an exception; it is the cause."""


class SimulatorService:
    """Answers questions about one simulator.

    Args:
        run: Runs modules.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self.gate = True
        self._codes: dict[str, CodeType | Rejected] = {}
        self._lanes: LaneSimulator | None = None
        self._ages: Array = np.zeros(0, int)
        self._horizon = 0

    def answer(self, what: str, request: dict[str, Any]) -> Any:
        """Answer one question."""
        with np.errstate(all="ignore"):
            return getattr(self, f"_{what}")(request)

    def _simulator(self, request: dict[str, Any]) -> LaneSimulator:
        forms = Form(request["layouts"][0]), Form(request["layouts"][1])
        digest = request["digest"]
        seed = [*digest[:8], 0]
        return LaneSimulator(self._run(digest, None), request["vectors"], forms, seed)

    # Predictions

    def _predict(self, request: dict[str, Any]) -> Any:
        """Observations, sums of rewards and endings some steps ahead of each window, by vector."""
        ahead, repeat = request["ahead"], request["repeat"]
        starts = np.repeat(request["starts"], repeat, axis=0)
        answers = []
        for vector in request["vectors"]:
            lanes = self._simulator(request | {"vectors": [vector]})
            lanes.set(starts)
            answers.append(_predict(lanes, request["actions"], ahead, repeat))
        return tuple(map(np.stack, zip(*answers, strict=True)))

    def _examine(self, request: dict[str, Any]) -> Any:
        return examine(lambda: self._simulator(request), request)

    # Episodes

    def _play(self, request: dict[str, Any]) -> Any:
        """Returns, lengths and endings of episodes, and a failure if the policy failed."""
        names, table, lanes = request["names"], request["table"], request["lanes"]
        vectors: Vectors = (
            [None] * len(table)
            if names is None
            else [dict(zip(names, row, strict=True)) for row in table.tolist()]
        )
        simulator = self._simulator(request)
        obs, rows = _begin(simulator, lanes, len(vectors))
        each = [vectors[row // lanes] for row in rows]
        try:
            module = self._policy(request["policy"], request["source_bytes"], request["digest"])
            kind = LanePlayer if request["together"] else CopyPlayer
            player = kind(module, each, request["layouts"])
            episodes = LaneEpisodes(simulator, player, request)
            return *episodes.run(obs, rows), _failure(player.failed, request["policy"])
        except SimulatorFailedInsideError:
            raise
        except BaseException as error:  # noqa: BLE001 - the policy's, and its outcome
            return None, None, None, None, None, 0, 0, _failure(error, request["policy"])

    def _compare(self, request: dict[str, Any]) -> str:
        """Why a policy cannot act in lanes; empty where it acts there as lone copies do."""
        vectors = request["trials"]
        try:
            module = self._policy(request["policy"], request["source_bytes"], request["digest"])
            together = LanePlayer(module, vectors, request["layouts"])
            alone = CopyPlayer(module, vectors, request["layouts"])
            lanes = self._simulator(request)
            obs = lanes.reset(len(vectors))
            for step in range(COMPARED_STEPS):
                first, second = together.act(obs), alone.act(obs)
                lane = differing_lane(first[0], second[0])
                if lane is not None:
                    given = " and ".join(
                        np.array2string(part[0][lane], precision=8) for part in (first, second)
                    )
                    return f"act gives other actions in lanes than alone: {given} (lane {lane}, step {step})"
                if (first[1] != second[1]).any():
                    return f"act fails in lanes or alone only (step {step})"
                if step == COMPARED_STEPS // 2:  # dropping lanes must not mix them up
                    stays = np.arange(len(vectors)) % 3 != 1
                    for player in (together, alone):
                        player.keep(stays)
                    lanes.keep(stays)
                    obs, first = obs[stays], (first[0][stays], first[1][stays])
                obs = lanes.step(lanes.action.clip(first[0]))[0]
        except BaseException as error:  # noqa: BLE001 - it is run copy by copy then
            return describe_failure(error)[1] or "it fails in lanes"
        return ""

    def _policy(self, source: str, source_bytes: int, digest: bytes) -> Namespaces:
        code = self._codes.get(source)
        if code is None:
            if len(self._codes) > 8:  # noqa: PLR2004 - structures come and go
                self._codes.clear()
            code = self._codes[source] = compile_source(source, source_bytes, gate=self.gate)
        if isinstance(code, Rejected):
            raise ContractError(f"{code.message} {code.detail}".strip())
        return lambda lane: self._run(digest[:-4] + lane.to_bytes(4, "little"), code)

    # Batches for a learner

    def _start(self, request: dict[str, Any]) -> Array:
        """Start lanes that begin anew by themselves; their first observations."""
        self._lanes, self._horizon = self._simulator(request), request["horizon"]
        n = request["lanes"]
        self._ages = np.zeros(n, int)
        return self._lanes.reset(n)

    def _advance(self, request: dict[str, Any]) -> Any:
        """One step of all lanes: observations before and after restarts, rewards, terminated, truncated."""
        lanes = self._lanes
        if lanes is None:
            raise ContractError("no lanes were started")
        obs, reward, terminated = lanes.step(lanes.action.clip(request["actions"]))
        self._ages += 1
        truncated = ~terminated & (self._ages >= self._horizon)
        over = terminated | truncated
        after = obs
        if over.any():
            obs = obs.copy()
            after = lanes.restart(over)
            self._ages[over] = 0
        return obs, after, reward, terminated, truncated


def _predict(lanes: LaneSimulator, actions: Array, ahead: list[int], repeat: int) -> tuple[Array, ...]:
    n = len(lanes._last)  # noqa: SLF001 - of this package
    total, over = np.zeros(n), np.zeros(n, bool)
    found: list[tuple[Array, ...]] = []
    for step in range(max(ahead)):
        obs, reward, ended = lanes.step(lanes.action.clip(np.repeat(actions[step], repeat, axis=0)))
        total += np.where(over, 0.0, reward)
        over |= ended
        if step + 1 in ahead:
            found.append((obs.astype(float), total.copy(), over.astype(float)))
    stacked = [np.stack(part) for part in zip(*found, strict=True)]
    shape = (len(ahead), n // repeat, repeat)
    return tuple([part.reshape(*shape, *part.shape[2:]).mean(axis=2) for part in stacked])


def _failure(error: BaseException | None, policy: str) -> Any:
    return None if error is None else describe_failure_of(policy, error)


class LaneEpisodes:
    """Episodes of one policy in all lanes of a simulator, from their beginning to the last one's end.

    Args:
        lanes: The simulator.
        player: The policy.
        request: The host's question.
    """

    def __init__(self, lanes: LaneSimulator, player: SharedPlayer, request: dict[str, Any]) -> None:
        self._lanes, self._player = lanes, player
        self._horizon = request["horizon"]
        self._recorded, self._seconds = request["record"], request["seconds"]
        self._bonus = request["bonus"]

    def run(self, obs: Array, running: Array) -> tuple[Any, ...]:
        """Returns, lengths, endings, whether the policy kept acting, trajectories, broken lanes, and lane steps.

        Args:
            obs: First observations.
            running: The number of the episode that each lane plays.

        Raises:
            SimulatorFailedInsideError: The simulator failed, not the policy.
        """
        n, lanes = len(running), self._lanes
        returns, lengths = np.zeros(n), np.zeros(n, int)
        ended, sound = np.zeros(n, bool), np.ones(n, bool)
        chosen = np.argsort(running)[: self._recorded]
        rows, began = [obs[chosen]], process_time()
        actions: list[Array] = []
        rewards: list[Array] = []
        for _ in range(self._horizon):
            raw, good = self._player.act(obs)
            acted = lanes.action.clip(raw)
            try:
                obs, reward, over = lanes.step(acted)
            except BaseException as error:
                raise SimulatorFailedInsideError from error
            alive = ~ended[running]
            returns[running] += np.where(alive & good, reward - self._bonus, 0.0)
            lengths[running] += alive & good
            sound[running] &= good | ~alive
            ended[running] |= over | ~good
            if self._recorded:
                rows.append(obs[chosen])
                actions.append(acted[chosen])
                rewards.append(reward[chosen])
            stay = ~ended[running]
            left = int(stay.sum())
            if not left or process_time() - began > self._seconds:
                break
            if not self._recorded and left <= DROP_SHARE * len(running):
                lanes.keep(stay)
                self._player.keep(stay)
                running, obs = running[stay], obs[stay]
        kept = (np.stack(rows), np.stack(actions), np.stack(rewards)) if self._recorded and actions else None
        return returns, lengths, ended, sound, kept, lanes.broken, lanes.steps


def _begin(lanes: LaneSimulator, n: int, candidates: int) -> tuple[Array, Array]:
    """Start n episodes of each candidate in the same states: observations, and whose episode each lane is.

    Raises:
        SimulatorFailedInsideError: The simulator failed.
    """
    try:
        obs = lanes.reset(n)
        old = lanes.tile(candidates) if candidates > 1 else np.arange(n)
    except BaseException as error:
        raise SimulatorFailedInsideError from error
    seen = np.zeros(n, int)
    rows = np.zeros(len(old), int)
    for lane, first in enumerate(old):
        rows[lane] = seen[first] * n + first
        seen[first] += 1
    return obs[old], rows
