"""One guest and the episodes it runs in lockstep, until all are done or the guest has to be given up."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import gymnasium
import numpy as np

from sandbox.guest import wire
from sandbox.guest.actions import InvalidActionError, sample
from sandbox.guest.plain import encode
from sandbox.guest.wire import HEADER, message
from sandbox.lockstep.acting import ActionDecoder, Clipped
from sandbox.lockstep.lane import Lane
from sandbox.lockstep.observing import ObservationEncoder
from sandbox.process import Guest, GuestGoneError, GuestTimeoutError, decode_failure
from sandbox.results import Episode, Failure, Limits, Trial
from sandbox.seeds import digest_of
from sandbox.spaces import plain_observation


@dataclass
class Ledger:
    """What a rollout has so far, over all the guests it took.

    Attributes:
        trials: All of them, in order.
        stop_on_failure: Whether a failure cancels the trials after it.
        episodes: By index of the trial.
        outputs: Captured prints by index of the trial.
        steps: Environment steps taken.
        step_limit: How many may be taken.
        policy_seconds: Time spent waiting for guests.
        first_failure: Index of the first failing trial so far.
    """

    trials: Sequence[Trial]
    stop_on_failure: bool
    step_limit: int | None = None
    episodes: dict[int, Episode] = field(default_factory=dict)
    outputs: dict[int, str] = field(default_factory=dict)
    steps: int = 0
    policy_seconds: float = 0.0
    first_failure: int | None = None

    def add(self, position: int, episode: Episode) -> None:
        """Note a finished or failed episode."""
        self.episodes[position] = episode
        if episode.failure is not None and (self.first_failure is None or position < self.first_failure):
            self.first_failure = position

    def cancelled(self, position: int) -> bool:
        """Whether a failure before it makes this trial pointless."""
        return self.stop_on_failure and self.first_failure is not None and position > self.first_failure

    @property
    def exhausted(self) -> bool:
        """Whether no environment step is left."""
        return self.step_limit is not None and self.steps >= self.step_limit


class LaneTimeoutError(Exception):
    """One lane's policy took too long.

    Args:
        lane: The lane.
        seconds: The limit.
        what: What it was doing.
    """

    def __init__(self, lane: Lane, seconds: float, what: str) -> None:
        super().__init__(what)
        self.lane, self.seconds, self.what = lane, seconds, what


class MemoryShortError(Exception):
    """A policy ran out of the memory that it shares with the other lanes."""


@dataclass(frozen=True)
class Options:
    """How to run episodes.

    Attributes:
        limits: Of the policies.
        record: Whether to keep trajectories.
        alone: Whether this guest runs one episode only, so that whatever happens is its doing.
    """

    limits: Limits
    record: bool = False
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
        for lane in starting:
            self._construct(lane)
        self.guest.finish()
        for lane in starting:
            if lane in self.lanes:
                self._reset(lane)

    def _construct(self, lane: Lane) -> None:
        """Wait until a lane's policy is built."""
        began = perf_counter()
        try:
            failure = self._answer(lane, self.limits.construct_seconds)
        except GuestTimeoutError:
            seconds = self.limits.construct_seconds
            raise LaneTimeoutError(lane, seconds, "running the module and constructing Policy") from None
        lane.seconds = perf_counter() - began
        lane.share_before = self._share
        self.ledger.policy_seconds += lane.seconds
        if failure is not None:
            self._fail(lane, failure)

    def _answer(self, lane: Lane, seconds: float) -> tuple[str, str, str] | None:
        """Wait for one lane's READY; its failure if it sent that instead."""
        while True:
            kind, count, payload = self.guest.chunk(seconds)
            if kind == wire.OUTPUT:
                self._note_output(count, payload)
            elif kind == wire.FAILED:
                return decode_failure(payload)
            elif kind == wire.READY and count == 1 and not payload:
                return None
            else:
                raise GuestGoneError(f"the guest sent a message out of order in lane {lane.index}")

    def _reset(self, lane: Lane) -> None:
        """Start the environment's episode."""
        lane.obs, info = lane.env.reset(seed=lane.trial.seed)
        if self.options.record:
            lane.recorded = ([plain_observation(self.space, lane.obs)], [], [])
        if info:
            lane.note_success({})
        lane.first_round = self._round
        horizon = lane.trial.horizon
        lane.last_round = -1 if horizon is None else self._round + max(1, horizon)

    def _fail(self, lane: Lane, failure: tuple[str, str, str], step: int | None = None) -> None:
        """End a lane whose policy failed."""
        kind, text, detail = failure
        if kind == "memory" and not self.options.alone:
            raise MemoryShortError
        self._end(lane, failure=Failure(kind, text, detail, lane.trial.seed, step))  # type: ignore[arg-type]

    def _end(self, lane: Lane, **how: Any) -> None:
        """Take a lane out and note its episode."""
        seconds = lane.seconds + self._share - lane.share_before
        steps = self._round - lane.first_round if lane.obs is not None else 0
        if how.get("failure") is not None and how.pop("taken", None) is None and lane.obs is not None:
            steps -= 1  # the action of this round was not taken
        self.ledger.add(lane.position, lane.episode(steps=max(0, steps), seconds=seconds, **how))
        self._release(lane)

    def _release(self, lane: Lane) -> None:
        self.lanes = [other for other in self.lanes if other is not lane]
        self._stopped.append(lane.index)
        self._idle.append((lane.index, lane.env))

    def _drop_cancelled(self) -> None:
        for lane in [lane for lane in self.lanes if self.ledger.cancelled(lane.position)]:
            self._release(lane)

    def _note_output(self, index: int, payload: bytes) -> None:
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
        deadline_share = min(lane.share_before - lane.seconds for lane in lanes) + self.limits.episode_seconds
        exchange = _Exchange(self, lanes)
        batch = self.encoder.message([lane.obs for lane in lanes])
        record = self.options.record
        while self.lanes is lanes:
            self._round += 1
            actions = exchange(batch)
            if ledger.step_limit is not None and ledger.steps + len(lanes) > ledger.step_limit:
                actions = actions[: ledger.step_limit - ledger.steps]
            for lane, action in zip(lanes, actions, strict=False):
                if type(action) is Clipped:
                    action = action.action  # noqa: PLW2901
                    lane.clipped += 1
                elif isinstance(action, _NoAction):
                    self._fail(lane, action.failure, self._round - lane.first_round - 1)
                    continue
                obs, reward, terminated, truncated, info = lane.step(action)
                ledger.steps += 1
                lane.obs = obs
                lane.total += reward  # type: ignore[assignment]
                if info and ("success" in info or "is_success" in info):
                    lane.note_success(info)
                if record:
                    self._record(lane, action, reward)
                if terminated or truncated or self._round == lane.last_round:
                    self._end(lane, terminated=terminated, truncated=truncated or not terminated)
            if self.lanes is not lanes or ledger.exhausted:
                return
            if self._share > deadline_share:
                self._check_episode_time()
            batch = self.encoder.message([lane.obs for lane in lanes])

    def _record(self, lane: Lane, action: Any, reward: Any) -> None:
        assert lane.recorded is not None  # noqa: S101
        observations, actions, rewards = lane.recorded
        observations.append(plain_observation(self.space, lane.obs))
        actions.append(action.copy() if isinstance(action, np.ndarray) else action)
        rewards.append(float(reward))

    def _check_episode_time(self) -> None:
        limit = self.limits.episode_seconds
        for lane in self.lanes:
            if lane.seconds + self._share - lane.share_before > limit:
                raise LaneTimeoutError(lane, limit, "its act calls in one episode together")

    def charge(self, lanes: Sequence[Lane], seconds: float) -> None:
        """Charge time to some of the lanes."""
        for lane in lanes:
            lane.seconds += seconds / len(lanes)


class _NoAction:
    """Stands in for the action of a lane that failed."""

    __slots__ = ("failure",)

    def __init__(self, failure: tuple[str, str, str]) -> None:
        self.failure = failure


class _Exchange:
    """Sends a batch and gets the actions of a fixed set of lanes."""

    def __init__(self, session: Session, lanes: list[Lane]) -> None:
        self.session = session
        self.lanes = lanes
        self.guest = session.guest
        self.seconds = session.limits.step_seconds
        size = session.decoder.row_bytes * len(lanes)
        self.header = HEADER.pack(wire.ACTIONS, 0, len(lanes), size) if session.decoder.row_bytes else b"?"
        self.expected = HEADER.size + size
        self.decode: Callable[[bytes | memoryview, int], list[Any]] = session.decoder.decode

    def __call__(self, batch: bytes) -> list[Any]:
        session, lanes = self.session, self.lanes
        began = perf_counter()
        try:
            self.guest.send(batch, self.seconds)
            data = self.guest.read(max(self.expected + 1, 4096), self.seconds)
        except GuestTimeoutError:
            raise LaneTimeoutError(lanes[0], self.seconds, "one act call") from None
        if len(data) == self.expected and data.startswith(self.header):
            taken = perf_counter() - began
            session._share += taken / len(lanes)  # noqa: SLF001
            session.ledger.policy_seconds += taken
            actions = self.decode(memoryview(data)[HEADER.size :], len(lanes))
        else:
            self.guest.push_back(data)
            actions = self._slowly(began)
        if any(type(action) is InvalidActionError for action in actions):
            actions = [self._explained(lane, action) for lane, action in zip(lanes, actions, strict=True)]
        return actions

    def _slowly(self, began: float) -> list[Any]:
        """Collect an answer that comes in several chunks, and charge each lane its own time."""
        session, lanes = self.session, self.lanes
        actions: list[Any] = []
        while len(actions) < len(lanes):
            try:
                kind, count, payload = self.guest.chunk(self.seconds)
            except GuestTimeoutError:
                raise LaneTimeoutError(lanes[len(actions)], self.seconds, "one act call") from None
            if kind == wire.OUTPUT:
                session._note_output(count, payload)  # noqa: SLF001
                continue
            before = len(actions)
            if kind == wire.ACTIONS and 0 < count <= len(lanes) - before:
                actions += self.decode(payload, count)
            elif kind == wire.FAILED:
                actions.append(_NoAction(decode_failure(payload)))
            else:
                raise GuestGoneError("the guest sent a message out of order")
            now = perf_counter()
            session.charge(lanes[before : len(actions)], now - began)
            session.ledger.policy_seconds += now - began
            began = now
        self.guest.finish()
        session._check_episode_time()  # noqa: SLF001
        return actions

    @staticmethod
    def _explained(lane: Lane, action: Any) -> Any:
        if type(action) is not InvalidActionError:
            return action
        return _NoAction(("invalid_action", str(action), f"obs was {sample(lane.obs)}"))
