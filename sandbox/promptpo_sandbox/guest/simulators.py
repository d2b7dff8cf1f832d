"""Requests to a guest that holds a simulator: predictions, episodes of policies, batches of steps for an RL algorithm.

Every request covers many lanes and many steps. It never holds the outcomes to be predicted, which stay with the host.
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
"""Runs a fresh copy of the loaded module, or of other code; the bytes determine its random numbers."""

DROP_SHARE = 0.75
"""Lanes that have ended are dropped once at most this fraction of lanes is still running."""

COMPARED_STEPS = 40
"""Number of steps for which a policy in lanes is compared with separate copies."""


class SimulatorFailedInsideError(InsideError):
    """A simulator, not a policy, raised an exception, which is the cause."""


class SimulatorService:
    """Answers requests to one simulator.

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
        self._episodes: LaneEpisodes | None = None
        self._policy_source = ""

    def answer(self, what: str, request: dict[str, Any]) -> Any:
        """Answer one request."""
        with np.errstate(all="ignore"):
            return getattr(self, f"_{what}")(request)

    def _simulator(self, request: dict[str, Any]) -> LaneSimulator:
        forms = Form(request["layouts"][0]), Form(request["layouts"][1])
        digest = request["digest"]
        seed = [*digest[:8], 0]
        return LaneSimulator(self._run(digest, None), request["vectors"], forms, seed)

    # Predictions

    def _predict(self, request: dict[str, Any]) -> Any:
        """Return observations, sums of rewards and terminations some steps into each window, by vector."""
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
        """Play episodes; return `LaneEpisodes.result`, or None if they need another request."""
        names, table, lanes = request["names"], request["table"], request["lanes"]
        vectors: Vectors = (
            [None] * len(table)
            if names is None
            else [dict(zip(names, row, strict=True)) for row in table.tolist()]
        )
        simulator = self._simulator(request)
        obs, rows = _begin(simulator, lanes, len(vectors))
        each = [vectors[row // lanes] for row in rows]
        self._policy_source, began = request["policy"], process_time()
        try:
            module = self._policy(request["policy"], request["source_bytes"], request["digest"])
            kind = LanePlayer if request["together"] else CopyPlayer
            player = kind(module, each, request["layouts"])
            self._episodes = LaneEpisodes(simulator, player, request, obs, rows, process_time() - began)
        except BaseException as error:  # noqa: BLE001 - the policy's failure, and its outcome
            return {"failure": describe_failure_of(request["policy"], error)}
        return self._resume({})

    def _resume(self, _: dict[str, Any]) -> Any:
        """Continue the episodes that `_play` has begun; return the same as it does."""
        episodes = self._episodes
        if episodes is None:
            raise ContractError("no episodes were begun")
        try:
            if not episodes.run():
                return None
        except SimulatorFailedInsideError:
            raise
        except BaseException as error:  # noqa: BLE001 - the policy's failure, and its outcome
            return {"failure": describe_failure_of(self._policy_source, error)}
        self._episodes = None
        return episodes.result(self._policy_source)

    def _compare(self, request: dict[str, Any]) -> str:
        """Return why a policy cannot act in lanes; empty if it acts there as separate copies do."""
        vectors = request["trials"]
        try:
            module = self._policy(request["policy"], request["source_bytes"], request["digest"])
            together = LanePlayer(module, vectors, request["layouts"])
            alone = CopyPlayer(module, vectors, request["layouts"])
            lanes = self._simulator(request)
            obs = lanes.reset(len(vectors))
            alive = np.ones(len(obs), bool)
            for step in range(COMPARED_STEPS):
                first, second = together.act(obs, alive), alone.act(obs, alive)
                lane = differing_lane(first[0], second[0], alive)
                if lane is not None:
                    given = " and ".join(
                        np.array2string(part[0][lane], precision=8) for part in (first, second)
                    )
                    return f"act gives other actions in lanes than alone: {given} (lane {lane}, step {step})"
                if (first[1] != second[1])[alive].any():
                    return f"act fails in lanes or alone only (step {step})"
                if step == COMPARED_STEPS // 2:  # dropping lanes must not mix them up
                    stays = np.arange(len(vectors)) % 3 != 1
                    for player in (together, alone):
                        player.keep(stays)
                    lanes.keep(stays)
                    obs, alive, first = obs[stays], alive[stays], (first[0][stays], first[1][stays])
                obs, _, over = lanes.step(lanes.action.clip(first[0]))
                alive &= ~over
                if not alive.any():
                    break
        except BaseException as error:  # noqa: BLE001 - separate copies are run instead
            return describe_failure(error)[1] or "it fails in lanes"
        return ""

    def _policy(self, source: str, source_bytes: int, digest: bytes) -> Namespaces:
        code = self._codes.get(source)
        if code is None:
            if len(self._codes) > 8:  # noqa: PLR2004 - policies come and go
                self._codes.clear()
            code = self._codes[source] = compile_source(source, source_bytes, gate=self.gate)
        if isinstance(code, Rejected):
            raise ContractError(f"{code.message} {code.detail}".strip())
        return lambda lane: self._run(digest[:-4] + lane.to_bytes(4, "little"), code)

    # Batches for an RL algorithm

    def _start(self, request: dict[str, Any]) -> Array:
        """Start lanes that restart by themselves; return their first observations."""
        self._lanes, self._horizon = self._simulator(request), request["horizon"]
        n = request["lanes"]
        self._ages = np.zeros(n, int)
        return self._lanes.reset(n)

    def _advance(self, request: dict[str, Any]) -> Any:
        """Advance all lanes by one step; return observations before and after restarts, rewards, terminated, truncated."""
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
    n = len(lanes)
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


class LaneEpisodes:
    """The episodes of one policy in all lanes of a simulator, from their beginning to the end of the last one.

    Args:
        lanes: The simulator.
        player: The policy.
        request: The host's request.
        obs: First observations.
        running: The number of the episode in each lane.
        seconds: CPU time spent on constructing the policy.
    """

    def __init__(
        self,
        lanes: LaneSimulator,
        player: SharedPlayer,
        request: dict[str, Any],
        obs: Array,
        running: Array,
        seconds: float,
    ) -> None:
        self._lanes, self._player, self._obs, self._running = lanes, player, obs, running
        self._horizon, self._recorded, self._bonus = (
            request[name] for name in ("horizon", "record", "bonus")
        )
        self._question_seconds, self._seconds_left = request["question_seconds"], request["seconds"]
        n = len(running)
        self._returns, self._lengths = np.zeros(n), np.zeros(n, int)
        self._ended, self._sound = np.zeros(n, bool), np.ones(n, bool)
        self._chosen = np.argsort(running)[: self._recorded]
        self._rows = [obs[self._chosen]]
        self._acting_seconds = self._seconds_before = seconds
        self._actions: list[Array] = []
        self._rewards: list[Array] = []
        self._steps = 0

    def run(self) -> bool:
        """Continue; return whether all episodes have ended or have used up their time.

        Raises:
            SimulatorFailedInsideError: The simulator failed, not the policy.
        """
        began, self._seconds_before = process_time() - self._seconds_before, 0.0
        while (unfinished := self._find_unfinished()).any():
            seconds = process_time() - began
            if seconds > self._seconds_left:
                self._sound[unfinished] = False
                break
            if seconds > self._question_seconds:
                self._seconds_left -= seconds
                return False
            self._step()
        return True

    def result(self, policy: str) -> dict[str, Any]:
        """Return what the episodes came to, one entry per episode.

        Args:
            policy: Source of the policy, for its traceback.

        Returns:
            ``returns``, ``lengths``, ``terminated`` and ``sound`` (whether the policy acted to the end) by episode;
            ``trajectories``, the recorded observations, actions and rewards by step, or None; ``acting_seconds``, CPU time of the
            policy; ``cut``, whether time ran out; ``failure``, the policy's first one, or None.
        """
        rows = self._rows, self._actions, self._rewards
        error = self._player.failed
        return {
            "returns": self._returns,
            "lengths": self._lengths,
            "terminated": self._ended,
            "sound": self._sound,
            "trajectories": tuple(map(np.stack, rows)) if self._actions else None,
            "acting_seconds": self._acting_seconds,
            "cut": bool(self._find_unfinished().any()),
            "failure": None if error is None else describe_failure_of(policy, error),
        }

    def _find_unfinished(self) -> Array:
        """Return a mask of the episodes that are still running."""
        return ~self._ended & np.bool_(self._steps < self._horizon)

    def _step(self) -> None:
        lanes, running, ended = self._lanes, self._running, self._ended
        alive, began = ~ended[running], process_time()
        raw, good = self._player.act(self._obs, alive)
        self._acting_seconds += process_time() - began
        acted = lanes.action.clip(raw)
        try:
            obs, reward, over = lanes.step(acted)
        except BaseException as error:
            raise SimulatorFailedInsideError from error
        self._steps += 1
        self._returns[running] += np.where(alive & good, reward - self._bonus, 0.0)
        self._lengths[running] += alive & good
        self._sound[running] &= good | ~alive
        ended[running] |= over | ~good
        if self._recorded:
            self._rows.append(obs[self._chosen])
            self._actions.append(acted[self._chosen])
            self._rewards.append(reward[self._chosen])
        stay = ~ended[running]
        if not self._recorded and 0 < stay.sum() <= DROP_SHARE * len(running):
            lanes.keep(stay)
            self._player.keep(stay)
            self._running, obs = running[stay], obs[stay]
        self._obs = obs


def _begin(lanes: LaneSimulator, n: int, candidates: int) -> tuple[Array, Array]:
    """Start n episodes of each candidate in the same states; return observations and the episode in each lane.

    Raises:
        SimulatorFailedInsideError: The simulator failed.
    """
    try:
        obs = lanes.reset(n)
        episodes = lanes.tile(candidates) if candidates > 1 else np.arange(n)
    except BaseException as error:
        raise SimulatorFailedInsideError from error
    return obs[episodes % n], episodes
