"""A whole rollout: guests are replaced when one has to be given up, and the innocent episodes run again."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium

from sandbox.guest import wire
from sandbox.guest.plain import encode
from sandbox.guest.wire import message
from sandbox.lockstep.acting import ActionDecoder
from sandbox.lockstep.ledger import LaneTimeoutError, Ledger, MemoryShortError
from sandbox.lockstep.session import Options, Session
from sandbox.process import Guest, GuestGoneError, GuestTimeoutError, Usage, decode_failure
from sandbox.results import Episode, Failure, Limits, Rollout, Trial
from sandbox.spaces import layout_of


@dataclass(frozen=True)
class Guests:
    """Where guests come from.

    Attributes:
        new: A fresh confined guest.
        end: Ends it and says what it used.
    """

    new: Callable[[], Guest]
    end: Callable[[], Usage | None]


class Runner:
    """Rolls one source out.

    Args:
        guests: Where guests come from.
        limits: Of the policies.
        gate: Whether the gate is on.
        source: The policy module.
    """

    def __init__(self, guests: Guests, limits: Limits, source: str, *, gate: bool) -> None:
        self.guests = guests
        self.limits = limits
        self.source = source
        self.gate = gate
        self.cpu_seconds = 0.0
        self.last_usage: Usage | None = None

    def load(self, layout: Any) -> tuple[Guest, Failure | None]:
        """A fresh guest with the source loaded, and the source's failure if it has one."""
        guest = self.guests.new()
        limits = self.limits
        request = {
            "source": self.source,
            "gate": self.gate,
            "source_bytes": limits.source_bytes,
            "output_bytes": limits.output_bytes,
            "layout": layout,
        }
        try:
            guest.send(message(wire.LOAD, encode(request)), limits.construct_seconds)
            kind, _, payload = guest.chunk(limits.construct_seconds)
            guest.finish()
            if kind == wire.READY:
                return guest, None
            return guest, Failure(*decode_failure(payload))  # type: ignore[arg-type]
        except GuestTimeoutError:
            seconds = limits.construct_seconds
            return guest, Failure(
                "rejected", f"checking and compiling the source took longer than {seconds:g} s"
            )
        except GuestGoneError:
            return guest, Failure("rejected", "the source brings the compiler down; write a simpler one")

    def end(self) -> None:
        """End the guest and add up what it used."""
        usage = self.guests.end()
        if usage is not None:
            self.cpu_seconds += usage.cpu_seconds
            self.last_usage = usage

    def run(
        self,
        envs: Sequence[gymnasium.Env[Any, Any]],
        trials: Sequence[Trial],
        *,
        record: bool,
        clip_actions: bool,
        stop_on_failure: bool,
        on_step_limit: int | None,
    ) -> Rollout:
        """Run all trials; see `sandbox.Sandbox.rollout`."""
        space = envs[0].action_space
        layout = layout_of(space)
        layout_of(envs[0].observation_space)
        decoder = ActionDecoder(space, layout, clip=clip_actions)
        ledger = Ledger(trials, stop_on_failure, on_step_limit)
        pending = deque(range(len(trials)))
        alone = False
        failure = None
        while pending and not ledger.exhausted:
            guest, failure = self.load(layout)
            if failure is not None:
                break
            batch = deque([pending.popleft()]) if alone else pending
            options = Options(self.limits, record, alone=alone)
            session = Session(guest, envs[:1] if alone else envs, ledger, decoder, options)
            alone = self._run_session(session, batch, alone=alone)
            if batch is not pending:
                pending.extendleft(reversed(batch))
            again = [lane.position for lane in session.lanes if not ledger.cancelled(lane.position)]
            if not ledger.exhausted:
                pending = deque(sorted({*pending, *again}))
        self.end()
        if failure is not None and not stop_on_failure:
            for position in range(len(trials)):
                if position not in ledger.episodes:
                    ledger.add(position, _unstarted(trials[position], failure))
        return self._rollout(ledger, failure)

    def _run_session(self, session: Session, batch: deque[int], *, alone: bool) -> bool:
        """Run one guest to its end; whether the rest should run one by one."""
        ledger = session.ledger
        try:
            session.run(batch)
        except LaneTimeoutError as error:
            self.end()
            step = session._round - error.lane.first_round - 1 if error.lane.obs is not None else None  # noqa: SLF001
            text = f"{error.what} took longer than {error.seconds:g} s; do less work, or the same work once"
            self._blame(session, error, Failure("timeout", text, "", error.lane.trial.seed, step))
        except (GuestGoneError, MemoryShortError) as error:
            self.end()
            if not alone:
                return True
            lane = session.lanes[0]
            seed, step = lane.trial.seed, None if lane.obs is None else session._round - lane.first_round - 1  # noqa: SLF001
            kind, text = _cause(error, self.last_usage)
            session._end(lane, failure=Failure(kind, text, "", seed, step))  # type: ignore[arg-type]  # noqa: SLF001
        del ledger
        return alone

    @staticmethod
    def _blame(session: Session, error: LaneTimeoutError, failure: Failure) -> None:
        session._end(error.lane, failure=failure)  # noqa: SLF001

    def _rollout(self, ledger: Ledger, failure: Failure | None) -> Rollout:
        episodes = ledger.episodes
        kept = [position for position in sorted(episodes) if not ledger.cancelled(position)]
        if failure is None and ledger.first_failure is not None:
            failure = episodes[ledger.first_failure].failure
        output = "".join(
            ledger.outputs[position] for position in sorted(ledger.outputs) if position in set(kept)
        )
        return Rollout(
            episodes=tuple(episodes[position] for position in kept),
            failure=failure,
            steps=ledger.steps,
            output=output[: self.limits.output_bytes],
            policy_seconds=ledger.policy_seconds,
            guest_cpu_seconds=self.cpu_seconds,
            unfinished=tuple(position for position in range(len(ledger.trials)) if position not in set(kept)),
        )


def _cause(error: Exception, usage: Usage | None) -> tuple[str, str]:
    """Kind and sentence for a guest that died."""
    status = usage.status if usage is not None else 0
    number = status & 0x7F
    if isinstance(error, MemoryShortError):
        return "memory", "the code needs more memory than it may use"
    if number and number != signal.SIGKILL:
        name = signal.Signals(number).name
        if number == getattr(signal, "SIGXCPU", -1):
            return "timeout", "the code used up its CPU time"
        return "crashed", f"the code brought its process down ({name}); use plain numpy and Python only"
    return "crashed", f"the code ended or disturbed its process ({error}); return an action from act instead"


def _unstarted(trial: Trial, failure: Failure) -> Episode:
    return Episode(trial.seed, 0.0, 0, False, False, None, 0, 0.0, None, failure)  # noqa: FBT003
