"""One guest and the episodes it runs in lockstep, until all are done or the guest has to be given up."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import gymnasium
import numpy as np

from promptpo_sandbox.guest import seen, wire
from promptpo_sandbox.guest.debug import MAX_ITEMS, plain
from promptpo_sandbox.guest.plain import PlainDataError, decode, encode
from promptpo_sandbox.guest.wire import message
from promptpo_sandbox.lockstep.acting import ActionDecoder, Clipped
from promptpo_sandbox.lockstep.lane import Lane, order
from promptpo_sandbox.lockstep.meter import Meter
from promptpo_sandbox.lockstep.observing import ObservationEncoder
from promptpo_sandbox.lockstep.progress import LaneTimeoutError, MemoryShortError, Progress
from promptpo_sandbox.lockstep.roundtrip import Answer, NoAction, RoundTrip, action_in
from promptpo_sandbox.pipes import Guest, GuestGoneError, GuestTimeoutError, refuse
from promptpo_sandbox.results import Failure, FailureKind, Limits, Record
from promptpo_sandbox.rewards import AskedReward, RewardedEpisode, numbers_in
from promptpo_sandbox.spaces import plain_observation

_MANY_ANSWERS = 64
"""Number of sets of lanes whose answers are kept before those no longer needed are dropped."""

_ASIDE = {wire.OUTPUT: 0, wire.DEBUG: wire.MAX_DEBUG_BYTES, wire.SEEN: wire.MAX_SEEN_BYTES}
"""Chunks that account for no lane, and their maximum length; output has a limit of its own."""


@dataclass(frozen=True)
class Options:
    """Options of running episodes.

    Attributes:
        limits: Limits of the policies.
        record: Whether to keep trajectories, and with which observations.
        careful: Whether the guest reports each action at once, so that a hanging lane can be identified.
        alone: Whether this guest runs one episode only, so that every failure is due to it.
        reward: The reward program of steps; None keeps the environment's rewards.
    """

    limits: Limits
    record: Record = False
    careful: bool = False
    alone: bool = False
    reward: AskedReward | None = None


class GuestEpisodes:
    """Runs trials in one guest, which has loaded the source.

    Args:
        guest: The guest.
        envs: One per lane.
        progress: Collects the results.
        decoder: Decodes actions.
        options: Options of running them.
    """

    def __init__(
        self,
        guest: Guest,
        envs: Sequence[gymnasium.Env[Any, Any]],
        progress: Progress,
        decoder: ActionDecoder,
        options: Options,
    ) -> None:
        self.guest = guest
        self.progress = progress
        self.decoder = decoder
        self.limits = options.limits
        self.options = options
        self.space = envs[0].observation_space
        self.encoder = ObservationEncoder(self.space)
        self.meter = Meter(guest, progress, options.limits)
        self.lanes: list[Lane] = []
        self._idle = deque(enumerate(envs))
        self._stopped: list[int] = []
        self._round = 0
        self._answers: list[tuple[list[Lane], list[Answer]]] = []
        self._many_answers = _MANY_ANSWERS

    def run(self, pending: deque[int]) -> None:
        """Run the trials of `pending` to their ends, removing them from it as they start.

        Raises:
            LaneTimeoutError: A policy took too long; the guest cannot be used any more.
            MemoryShortError: Memory ran out among several lanes; likewise.
            GuestGoneError: The guest died or lied; likewise.
        """
        while True:
            self._start(pending)
            if not self.lanes or self.progress.exhausted:
                return
            self._advance()
            self._drop_cancelled()

    # Starting and ending episodes

    def _start(self, pending: deque[int]) -> None:
        """Fill the idle lanes."""
        starting: list[Lane] = []
        while pending and self._idle and not self.progress.exhausted:
            position = pending.popleft()
            if self.progress.is_cancelled(position):
                continue
            index, env = self._idle.popleft()
            taken = self.progress.taken.get(position, ())
            trial = self.progress.trials[position]
            lane = Lane(index, env, position, trial, env.step, taken=taken)
            if self.options.reward is not None:
                lane.rewarded = RewardedEpisode(self.options.reward, index, env)
                lane.step = lane.rewarded.step
            starting.append(lane)
            self.progress.outputs.pop(position, None)  # left by an earlier attempt
        if not starting and not (self._stopped and self.lanes):
            return  # nothing to tell a guest without lanes
        request = {
            "stop": self._stopped,
            "start": [order(lane.index, lane.trial) for lane in starting],
        }
        self._stopped = []
        self.lanes = sorted([*self.lanes, *starting], key=lambda lane: lane.index)
        try:
            self.guest.send(message(wire.LANES, encode(request)), self.limits.construct_seconds)
        except GuestTimeoutError:  # it should have been waiting for this
            only = self.lanes[0] if len(self.lanes) == 1 else None
            raise LaneTimeoutError(only, "the code went on working after act had returned") from None
        self._await_construction(starting)
        for lane in starting:
            if lane in self.lanes:
                self._reset(lane)

    def _await_construction(self, waiting: list[Lane]) -> None:
        """Wait until the policies of some lanes are built, in order."""
        limit, began = self.limits.construct_seconds, perf_counter()
        try:
            for count, failed in self.guest.answers(len(waiting), wire.READY, limit, self._aside):
                answered, waiting = waiting[:count], waiting[count:]
                for lane in answered:
                    lane.share_before = self.meter.share
                self.meter.charge(answered, perf_counter() - began)
                if not isinstance(failed, bytes):
                    self.fail(answered[0], *failed)
                began = perf_counter()
        except GuestTimeoutError:
            known = self.options.careful or len(waiting) == 1
            text = (
                f"running the module and constructing Policy took longer than {limit:g} s; do less work there"
            )
            raise LaneTimeoutError(waiting[0] if known else None, text) from None

    def _aside(self, kind: int, index: int, payload: bytes) -> None:
        """Keep what a policy prints; and its ``debug`` or results of ``perceive`` until its action is recorded.

        Raises:
            GuestGoneError: The chunk is malformed, or was not requested.
        """
        lane = next((lane for lane in self.lanes if lane.index == index), None)
        if kind not in _ASIDE or lane is None or not (self.options.record or kind == wire.OUTPUT):
            refuse()
        if kind == wire.OUTPUT:
            self.progress.note_output(lane, payload)
            return
        if len(payload) > _ASIDE[kind]:
            raise GuestGoneError("the guest sent a malformed message")
        try:
            if kind == wire.DEBUG:
                lane.debug = plain(decode(payload, max_values=1 + 2 * MAX_ITEMS))
            else:
                lane.seen = seen.select_plain(decode(payload, max_values=seen.MAX_DICT_VALUES))
        except PlainDataError as error:
            raise GuestGoneError("the guest sent a malformed message") from error

    def _reset(self, lane: Lane) -> None:
        """Start the environment's episode."""
        lane.obs, _ = lane.env.reset(seed=lane.trial.seed)
        if lane.rewarded is not None:
            lane.rewarded.begin(lane.trial.seed, lane.obs)
        if self.options.record:
            first = [] if self.options.record == "seen" else [plain_observation(self.space, lane.obs)]
            lane.recorded = (first, [], [], [], [])
        horizon = lane.trial.horizon
        lane.last_round = -1 if horizon is None else self._round + max(1, horizon)

    def fail(self, lane: Lane, kind: FailureKind, text: str, detail: str = "") -> None:
        """End a lane whose policy failed.

        Raises:
            MemoryShortError: It ran out of memory that it shares with other lanes.
        """
        if kind == "memory" and not self.options.alone:
            raise MemoryShortError
        step = None if lane.obs is None else lane.steps
        self._end(lane, failure=Failure(kind, text, detail, lane.trial.seed, step))

    def _end(self, lane: Lane, **how: Any) -> None:
        """Remove a lane and record its episode."""
        self.progress.add(lane.position, lane.episode(seconds=self.meter.seconds(lane), **how))
        self._release(lane)

    def _release(self, lane: Lane) -> None:
        self.lanes = [other for other in self.lanes if other is not lane]
        self._stopped.append(lane.index)
        self._idle.append((lane.index, lane.env))

    def _drop_cancelled(self) -> None:
        for lane in [lane for lane in self.lanes if self.progress.is_cancelled(lane.position)]:
            self._release(lane)

    def give_up(self) -> None:
        """Keep the actions that the environments of unfinished episodes received, to repeat them in another guest."""
        for lane in self.lanes:
            taken = [*lane.taken]
            answers = (
                (answer, lanes) for lanes, answers in self._answers if lane in lanes for answer in answers
            )
            for step, (answer, lanes) in enumerate(answers):
                if len(taken) <= step < lane.steps:
                    taken.append(action_in(answer, lanes.index(lane), len(lanes), self.decoder))
            self.progress.taken[lane.position] = taken

    # Rounds

    def _advance(self) -> None:
        """Run rounds until an episode ends, a policy fails or the step budget is spent."""
        lanes = self.lanes
        progress, meter = self.progress, self.meter
        trip = RoundTrip(
            self.guest,
            lanes,
            self.decoder,
            meter,
            self._aside,
            seconds=self.limits.step_seconds,
            careful=self.options.careful,
        )
        keep = self._answers_of(lanes).append
        repeating = any(lane.steps < len(lane.taken) for lane in lanes)
        horizons = [lane.last_round for lane in lanes if lane.last_round > 0]
        horizon = min(horizons, default=-1)
        oldest = min(lane.share_before - lane.seconds for lane in lanes)
        batch: bytes | list[Any] = self.encoder.message([lane.obs for lane in lanes])
        while self.lanes is lanes and not progress.exhausted:
            self._round += 1
            actions, special = trip(batch)
            keep(trip.answer)
            if repeating:
                actions, special = (
                    [_binding(lane, action) for lane, action in zip(lanes, actions, strict=True)],
                    True,
                )
            short = progress.step_limit is not None and progress.steps + len(lanes) > progress.step_limit
            if special or short or self.options.record:
                room = len(lanes) if progress.step_limit is None else progress.step_limit - progress.steps
                rows = self._careful_round(lanes, actions, room)
            else:
                rows = self._quick_round(lanes, actions)
            if self._round == horizon:
                self._cut(lanes)
            if meter.overdue or meter.share - oldest > self.limits.episode_seconds:
                self._end_overdue()
            if self.lanes is not lanes:
                return
            batch = self.encoder.from_rows(rows, lanes)

    def _answers_of(self, lanes: list[Lane]) -> list[Answer]:
        """Return the list that keeps the answers of a set of lanes as long as one of them runs."""
        if len(self._answers) > self._many_answers:
            running = {id(lane) for lane in self.lanes}
            self._answers = [kept for kept in self._answers if any(id(lane) in running for lane in kept[0])]
            self._many_answers = max(_MANY_ANSWERS, 2 * len(self._answers))
        self._answers.append((lanes, []))
        return self._answers[-1][1]

    def _quick_round(self, lanes: list[Lane], actions: list[Any]) -> list[Any]:
        """Step every lane; return the observations that are arrays of the announced dtype.

        The speed of a rollout depends on this loop: it does nothing that could be done once a round.
        """
        rows: list[Any] = []
        dtype = self.encoder.dtype
        ended: list[tuple[Lane, bool, bool]] = []
        for lane, action in zip(lanes, actions, strict=True):
            obs, reward, terminated, truncated, info = lane.step(action)
            lane.total += reward
            if not lane.least <= reward <= lane.most:
                lane.widen(reward)
            lane.steps += 1
            lane.obs = obs
            if type(obs) is np.ndarray and obs.dtype is dtype:
                rows.append(obs)
            if info and ("success" in info or "is_success" in info):
                lane.note_success(info)
            if terminated or truncated:
                ended.append((lane, terminated, truncated))
        self.progress.steps += len(lanes)
        for lane, terminated, truncated in ended:
            self._end(lane, terminated=terminated, truncated=truncated)
        return rows

    def _careful_round(self, lanes: list[Lane], actions: list[Any], room: int) -> list[Any]:
        """Step every lane that has an action, as far as the step budget allows; record the steps if requested."""
        for lane, action in zip(lanes[:room], actions, strict=False):
            if isinstance(action, NoAction):
                self.fail(lane, *action.failure)
                continue
            if type(action) is Clipped:
                action = action.action  # noqa: PLW2901
                lane.clipped += 1
            lane.obs, reward, terminated, truncated, info = lane.step(action)
            lane.total += reward
            if not lane.least <= reward <= lane.most:
                lane.widen(reward)
            lane.steps += 1
            self.progress.steps += 1
            lane.note_success(info)
            if self.options.record:
                self._record(lane, action, reward, info)
            if terminated or truncated:
                self._end(lane, terminated=terminated, truncated=truncated)
        return []

    def _cut(self, lanes: list[Lane]) -> None:
        """Truncate the episodes that have reached their trial's horizon."""
        for lane in lanes:
            if lane.last_round == self._round and lane in self.lanes:
                self._end(lane, truncated=True)

    def _record(self, lane: Lane, action: Any, reward: Any, info: Any) -> None:
        assert lane.recorded is not None  # noqa: S101
        observations, actions, rewards, debug, infos = lane.recorded
        if self.options.record == "info":
            infos.append(numbers_in(info) if lane.rewarded is None else lane.rewarded.numbers)
        if self.options.record == "seen":
            observations.append(lane.seen)
            lane.seen = {}
        else:
            observations.append(plain_observation(self.space, lane.obs))
        actions.append(action.copy() if isinstance(action, np.ndarray) else action)
        rewards.append(float(reward))
        debug.append(lane.debug)
        lane.debug = {}

    def _end_overdue(self) -> None:
        """Fail the lanes whose policies have used up their episode's time."""
        limit = self.limits.episode_seconds
        text = f"the act calls of one episode together took longer than {limit:g} s; do less work in each"
        for lane in self.meter.late(self.lanes):
            self.fail(lane, "timeout", text)


def _binding(lane: Lane, action: Any) -> Any:
    """Return the action that a lane takes: that of an earlier attempt at this episode, as far as it went."""
    if lane.steps >= len(lane.taken) or isinstance(action, NoAction):
        return action
    return copy.deepcopy(lane.taken[lane.steps])
