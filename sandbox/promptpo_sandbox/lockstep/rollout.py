"""Rollouts: guests that have to be given up are replaced, and episodes that are not to blame run again.

There are three ways of running, each slower and surer than the one before: many lanes at full speed; many lanes that
report every action at once, after a timeout of an unknown lane; one lane in a guest of its own, after a guest died or
its lanes ran out of the memory they share.
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import gymnasium

from promptpo_sandbox.asked import Asked, AskFailedError
from promptpo_sandbox.guest import wire
from promptpo_sandbox.guest.plain import encode
from promptpo_sandbox.guest.wire import message
from promptpo_sandbox.lockstep.acting import ActionDecoder
from promptpo_sandbox.lockstep.episodes import GuestEpisodes, Options
from promptpo_sandbox.lockstep.progress import LaneTimeoutError, MemoryShortError, Progress
from promptpo_sandbox.pipes import Guest, GuestGoneError, GuestTimeoutError, refuse
from promptpo_sandbox.process import GuestUsage
from promptpo_sandbox.results import Failure, FailureKind, Limits, Record, Rollout, unstarted_episode
from promptpo_sandbox.spaces import layout_of
from promptpo_sandbox.text import clean

if TYPE_CHECKING:
    from promptpo_sandbox.rewards import AskedReward


@dataclass(frozen=True)
class Guests:
    """Functions that start and end guests.

    Attributes:
        new: Starts a fresh confined guest.
        end: Ends it and returns its usage.
    """

    new: Callable[[], Guest]
    end: Callable[[], GuestUsage | None]


class Runner:
    """Runs one source in as many guests as it takes.

    Args:
        guests: Starts and ends guests.
        limits: Limits of the policies.
        source: The policy module.
        gate: Whether the gate is on.

    Attributes:
        cpu_seconds: CPU time that the guests have used.
    """

    def __init__(self, guests: Guests, limits: Limits, source: str, *, gate: bool) -> None:
        self.guests = guests
        self.limits = limits
        self.source = source
        self.gate = gate
        self.cpu_seconds = 0.0
        self._last_usage: GuestUsage | None = None
        self._code = b""  # compiled by the first guest, never read in this process

    def load(
        self, layout: Any, *, careful: bool = False, record: Record = False
    ) -> tuple[Guest, Failure | None]:
        """Load the source in a fresh guest that sends what `record` needs; return the guest and its failure, if any."""
        self.end()
        guest = self.guests.new()
        limits = self.limits
        request = {
            "source": self.source,
            "gate": self.gate,
            "code": self._code,
            "careful": careful,
            "debug": bool(record),
            "seen": record == "seen",
            "source_bytes": limits.source_bytes,
            "output_bytes": limits.output_bytes,
            "layout": layout,
        }
        try:
            guest.send(message(wire.LOAD, encode(request)), limits.construct_seconds)
            ((_, answer),) = guest.answers(1, wire.READY, limits.construct_seconds, refuse)
            if isinstance(answer, bytes):
                self._code = answer  # no code of the source had run by then
            return guest, None if isinstance(answer, bytes) else Failure(*answer)
        except GuestTimeoutError:
            seconds = limits.construct_seconds
            return guest, Failure(
                "rejected", f"checking and compiling the source took longer than {seconds:g} s"
            )
        except GuestGoneError:
            return guest, Failure("rejected", "the source brings the compiler down; write a simpler one")

    def open_asked(self, name: str, instead: str, error: type[AskFailedError]) -> Asked:
        """Load the source in a fresh guest that answers requests for plain data; see `Asked`.

        Raises:
            AskFailedError: The source is rejected.
        """
        guest, failure = self.load(("tuple", []))
        if failure is not None:
            self.end()
            raise error(failure)
        return Asked(guest, self.limits, self.end, name, instead, error)

    def end(self) -> None:
        """End the guest and add up what it used."""
        self._last_usage = usage = self.guests.end()
        if usage is not None:
            self.cpu_seconds += usage.cpu_seconds

    def run(
        self,
        envs: Sequence[gymnasium.Env[Any, Any]],
        progress: Progress,
        *,
        record: Record,
        clip_actions: bool,
        reward: AskedReward | None = None,
        apart: bool = False,
    ) -> Rollout:
        """Run all trials; see `promptpo_sandbox.box.Sandbox.rollout`."""
        layout = layout_of(envs[0].action_space)
        layout_of(envs[0].observation_space)
        decoder = ActionDecoder(envs[0].action_space, layout, clip=clip_actions)
        options = Options(self.limits, record, alone=apart, reward=reward)
        pending = deque(range(len(progress.trials)))
        failure = None
        while pending and not progress.exhausted:
            guest, failure = self.load(layout, careful=options.careful, record=record)
            if failure is not None:
                break
            batch = deque([pending.popleft()]) if options.alone else pending
            episodes = GuestEpisodes(guest, envs[:1] if options.alone else envs, progress, decoder, options)
            try:
                episodes.run(batch)
            except LaneTimeoutError as error:
                self.end()
                if error.lane is None:
                    options = replace(options, alone=options.alone or options.careful, careful=True)
                else:
                    episodes.fail(error.lane, "timeout", str(error))
            except (GuestGoneError, MemoryShortError) as error:
                self.end()
                if options.alone:
                    for lane in [*episodes.lanes]:  # one, or none if its episode had already ended
                        episodes.fail(lane, *_cause(error, self._last_usage))
                options = replace(options, alone=True, careful=True)
            episodes.give_up()
            again = {lane.position for lane in episodes.lanes} | {*batch, *pending}
            pending = deque(sorted(position for position in again if not progress.is_cancelled(position)))
        self.end()
        return self._result(progress, failure)

    def _result(self, progress: Progress, failure: Failure | None) -> Rollout:
        if failure is not None and not progress.stop_on_failure:
            for position, trial in enumerate(progress.trials):
                if position not in progress.episodes:
                    progress.add(position, unstarted_episode(trial, failure))
        episodes = progress.episodes
        kept = [position for position in sorted(episodes) if not progress.is_cancelled(position)]
        if failure is None and progress.first_failure is not None:
            failure = episodes[progress.first_failure].failure
        output = "".join(progress.outputs.get(position, "") for position in kept)
        return Rollout(
            episodes=tuple(episodes[position] for position in kept),
            failure=failure,
            steps=progress.steps,
            output=clean(output[: self.limits.output_bytes]),
            policy_seconds=progress.policy_seconds,
            guest_cpu_seconds=self.cpu_seconds,
            unfinished=tuple(sorted({*range(len(progress.trials))} - {*kept})),
        )


def _cause(error: Exception, usage: GuestUsage | None) -> tuple[FailureKind, str]:
    """Return kind and message of the failure of a guest that died or lied."""
    if isinstance(error, MemoryShortError):
        return "memory", "the code needs more memory than it may use; keep less data"
    number = usage.status & 0x7F if usage is not None else 0
    if number == getattr(signal, "SIGXCPU", -1):
        return "timeout", "the code used up its CPU time"
    if number and number != signal.SIGKILL:
        name = signal.Signals(number).name if number in {*signal.Signals} else f"signal {number}"
        return "crashed", f"the code brought its process down ({name}); use plain numpy and Python only"
    return "crashed", f"the code ended or disturbed its process ({error}); return an action from act instead"
