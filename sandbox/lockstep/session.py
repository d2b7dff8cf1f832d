"""One guest and the episodes it runs in lockstep, until all are done or the guest has to be given up."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import gymnasium
import numpy as np

from sandbox.guest import wire
from sandbox.guest.plain import encode
from sandbox.guest.wire import message
from sandbox.lockstep.acting import ActionDecoder, Clipped
from sandbox.lockstep.exchange import Exchange, NoAction
from sandbox.lockstep.lane import Lane
from sandbox.lockstep.ledger import LaneTimeoutError, Ledger, MemoryShortError
from sandbox.lockstep.observing import ObservationEncoder
from sandbox.process import Guest, GuestGoneError, GuestTimeoutError, decode_failure
from sandbox.results import Failure, FailureKind, Limits
from sandbox.seeds import digest_of
from sandbox.spaces import plain_observation


@dataclass(frozen=True)
class Options:
    """How to run episodes.

    Attributes:
        limits: Of the policies.
        record: Whether to keep trajectories.
        careful: Whether the guest reports each action at once, so that a hanging lane can be told.
        alone: Whether this guest runs one episode only, so that whatever happens is its doing.
    """

    limits: Limits
    record: bool = False
    careful: bool = False
    alone: bool = False


class Session:
    """Runs trials in one guest, which has loaded the source.

    Args:
        guest: The guest.
        envs: One per lane.
        ledger: Where results go.
        decoder: For the actions.
        options: How to run.
    """

    def __init__(
        self,
        guest: Guest,
        envs: Sequence[gymnasium.Env[Any, Any]],
        ledger: Ledger,
        decoder: ActionDecoder,
        options: Options,
    ) -> None:
        self.guest = guest
        self.ledger = ledger
        self.decoder = decoder
        self.limits = options.limits
        self.options = options
        self.space = envs[0].observation_space
        self.encoder = ObservationEncoder(self.space)
        self.lanes: list[Lane] = []
        self._idle = deque(enumerate(envs))
        self._stopped: list[int] = []
        self._round = 0
        self._share = 0.0
        self._overdue = False

    def run(self, pending: deque[int]) -> None:
        """Run the trials of `pending` to their ends, taking them off as they start.

        Raises:
            LaneTimeoutError: A policy took too long; the guest is of no more use.
            MemoryShortError: Memory ran out among several lanes; likewise.
            GuestGoneError: The guest died or lied; likewise.
        """
        while True:
            self._start(pending)
            if not self.lanes or self.ledger.exhausted:
                return
            self._advance()
            self._drop_cancelled()

    # Starting and ending episodes

    def _start(self, pending: deque[int]) -> None:
        """Fill the idle lanes."""
        starting: list[Lane] = []
        while pending and self._idle and not self.ledger.exhausted:
            position = pending.popleft()
            if self.ledger.cancelled(position):
                continue
            index, env = self._idle.popleft()
            starting.append(Lane(index, env, position, self.ledger.trials[position], env.step))
        if not starting and not self._stopped:
            return
        request = {
            "stop": self._stopped,
            "start": [
                (
                    lane.index,
                    digest_of(lane.trial.seed),
                    None if lane.trial.params is None else dict(lane.trial.params),
                )
                for lane in starting
            ],
        }
        self._stopped = []
        unfinished = self.lanes
        self.lanes = sorted([*unfinished, *starting], key=lambda lane: lane.index)
        self.guest.send(message(wire.LANES, encode(request)), self.limits.construct_seconds)
        self._await_construction(deque(starting))
        self.guest.finish()
        for lane in starting:
            if lane in self.lanes:
                self._reset(lane)

    def _await_construction(self, waiting: deque[Lane]) -> None:
        """Wait until the policies of some lanes are built, in order."""
        while waiting:
            began = perf_counter()
            try:
                kind, count, payload = self.guest.chunk(self.limits.construct_seconds)
            except GuestTimeoutError:
                known = self.options.careful or len(waiting) == 1
                limit = self.limits.construct_seconds
                text = f"running the module and constructing Policy took longer than {limit:g} s; do less work there"
                raise LaneTimeoutError(waiting[0] if known else None, text) from None
            if kind == wire.OUTPUT:
                self.note_output(count, payload)
                continue
            if kind == wire.READY and 0 < count <= len(waiting) and not payload:
                answered = [waiting.popleft() for _ in range(count)]
            elif kind == wire.FAILED:
                answered = [waiting.popleft()]
            else:
                raise GuestGoneError("the guest sent a message out of order")
            for lane in answered:
                lane.share_before = self._share
            self.charge(answered, perf_counter() - began)
            if kind == wire.FAILED:
                self.fail(answered[0], *decode_failure(payload))

    def _reset(self, lane: Lane) -> None:
        """Start the environment's episode."""
        lane.obs, _ = lane.env.reset(seed=lane.trial.seed)
        if self.options.record:
            lane.recorded = ([plain_observation(self.space, lane.obs)], [], [])
        horizon = lane.trial.horizon
        lane.last_round = -1 if horizon is None else self._round + max(1, horizon)

    def fail(self, lane: Lane, kind: FailureKind, text: str, detail: str = "") -> None:
        """End a lane whose policy failed.

        Raises:
            MemoryShortError: It ran out of memory that it did not have for itself.
        """
        if kind == "memory" and not self.options.alone:
            raise MemoryShortError
        step = None if lane.obs is None else lane.steps
        self._end(lane, failure=Failure(kind, text, detail, lane.trial.seed, step))

    def _end(self, lane: Lane, **how: Any) -> None:
        """Take a lane out and note its episode."""
        self.ledger.add(lane.position, lane.episode(seconds=self._seconds(lane), **how))
        self._release(lane)

    def _release(self, lane: Lane) -> None:
        self.lanes = [other for other in self.lanes if other is not lane]
        self._stopped.append(lane.index)
        self._idle.append((lane.index, lane.env))

    def _drop_cancelled(self) -> None:
        for lane in [lane for lane in self.lanes if self.ledger.cancelled(lane.position)]:
            self._release(lane)

    def note_output(self, index: int, payload: bytes) -> None:
        """Keep what a lane printed, as far as there is room.

        Raises:
            GuestGoneError: There is no such lane.
        """
        lane = next((lane for lane in self.lanes if lane.index == index), None)
        if lane is None:
            raise GuestGoneError("the guest sent output for no lane")
        before = self.ledger.outputs.get(lane.position, "")
        room = self.limits.output_bytes - len(before)
        self.ledger.outputs[lane.position] = before + payload.decode("utf-8", "replace")[: max(0, room)]

    # Rounds

    def _advance(self) -> None:
        """Rounds until an episode ends, a policy fails or the step budget is spent."""
        lanes = self.lanes
        ledger = self.ledger
        exchange = Exchange(self, lanes)
        horizons = [lane.last_round for lane in lanes if lane.last_round > 0]
        horizon = min(horizons, default=-1)
        oldest = min(lane.share_before - lane.seconds for lane in lanes)
        batch = self.encoder.message([lane.obs for lane in lanes])
        while self.lanes is lanes and not ledger.exhausted:
            self._round += 1
            actions, special = exchange(batch)
            short = ledger.step_limit is not None and ledger.steps + len(lanes) > ledger.step_limit
            if special or short or self.options.record:
                room = len(lanes) if ledger.step_limit is None else ledger.step_limit - ledger.steps
                rows = self._careful_round(lanes, actions, room)
            else:
                rows = self._quick_round(lanes, actions)
            if self._round == horizon:
                self._cut(lanes)
            if self._overdue or self._share - oldest > self.limits.episode_seconds:
                self._end_overdue()
            if self.lanes is not lanes:
                return
            batch = self.encoder.from_rows(rows, lanes)

    def _quick_round(self, lanes: list[Lane], actions: list[Any]) -> list[Any]:
        """One step of every lane; its observations as arrays, fewer where some are not alike.

        This loop is what a rollout's speed hangs on: nothing is in it that could be done once a round.
        """
        rows: list[Any] = []
        dtype = self.encoder.dtype
        ended: list[tuple[Lane, bool, bool]] = []
        for lane, action in zip(lanes, actions, strict=True):
            obs, reward, terminated, truncated, info = lane.step(action)
            lane.total += reward
            lane.steps += 1
            lane.obs = obs
            if type(obs) is np.ndarray and obs.dtype is dtype:
                rows.append(obs)
            if info and ("success" in info or "is_success" in info):
                lane.note_success(info)
            if terminated or truncated:
                ended.append((lane, terminated, truncated))
        self.ledger.steps += len(lanes)
        for lane, terminated, truncated in ended:
            self._end(lane, terminated=terminated, truncated=truncated)
        return rows

    def _careful_round(self, lanes: list[Lane], actions: list[Any], room: int) -> list[Any]:
        """One step of every lane that has an action, while the step budget has room; recorded if asked for."""
        for lane, action in zip(lanes[:room], actions, strict=False):
            if isinstance(action, NoAction):
                self.fail(lane, *action.failure)
                continue
            if type(action) is Clipped:
                action = action.action  # noqa: PLW2901
                lane.clipped += 1
            lane.obs, reward, terminated, truncated, info = lane.step(action)
            lane.total += reward
            lane.steps += 1
            self.ledger.steps += 1
            lane.note_success(info)
            if self.options.record:
                self._record(lane, action, reward)
            if terminated or truncated:
                self._end(lane, terminated=terminated, truncated=truncated)
        return []

    def _cut(self, lanes: list[Lane]) -> None:
        """Truncate the episodes that have reached their trial's horizon."""
        for lane in lanes:
            if lane.last_round == self._round and lane in self.lanes:
                self._end(lane, truncated=True)

    def _record(self, lane: Lane, action: Any, reward: Any) -> None:
        assert lane.recorded is not None  # noqa: S101
        observations, actions, rewards = lane.recorded
        observations.append(plain_observation(self.space, lane.obs))
        actions.append(action.copy() if isinstance(action, np.ndarray) else action)
        rewards.append(float(reward))

    def _end_overdue(self) -> None:
        """Fail the lanes whose policies have used up their episode's time."""
        limit = self.limits.episode_seconds
        text = f"the act calls of one episode together took longer than {limit:g} s; do less work in each"
        for lane in [lane for lane in self.lanes if self._seconds(lane) > limit]:
            self.fail(lane, "timeout", text)
        self._overdue = False

    def _seconds(self, lane: Lane) -> float:
        """Policy time of a lane's episode so far."""
        return lane.seconds + self._share - lane.share_before

    def charge(self, lanes: Sequence[Lane], seconds: float) -> None:
        """Charge policy time to some of the lanes, in equal shares."""
        self.ledger.policy_seconds += seconds
        for lane in lanes:
            lane.seconds += seconds / len(lanes)
            self._overdue |= self._seconds(lane) > self.limits.episode_seconds

    def charge_all(self, seconds: float) -> None:
        """Charge policy time to all lanes, in equal shares."""
        self.ledger.policy_seconds += seconds
        self._share += seconds / len(self.lanes)
