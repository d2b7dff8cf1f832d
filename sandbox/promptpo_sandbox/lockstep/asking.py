"""Policies that are asked for one action at a time, while their caller steps the environments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import gymnasium

from promptpo_sandbox.guest import wire
from promptpo_sandbox.guest.actions import InvalidActionError
from promptpo_sandbox.guest.plain import encode
from promptpo_sandbox.guest.wire import message
from promptpo_sandbox.lockstep.acting import ActionDecoder, Clipped
from promptpo_sandbox.lockstep.lane import order
from promptpo_sandbox.lockstep.observing import ObservationEncoder
from promptpo_sandbox.lockstep.rollout import Runner
from promptpo_sandbox.lockstep.roundtrip import NoAction, decode_chunk
from promptpo_sandbox.pipes import Guest, GuestGoneError, GuestTimeoutError, refuse
from promptpo_sandbox.results import Failure, Trial
from promptpo_sandbox.spaces import layout_of

Answers: TypeAlias = dict[int, Any]
"""By lane number: the action, or the `Failure` that ended its policy."""


class AskedPolicies:
    """Fresh policies of one source, one per lane, in one guest; one message asks all of them.

    A policy that fails is gone until its lane is started again. If the whole guest has to be given up (it hangs or
    dies), so are all policies in it, and the next `start` creates another guest.

    Args:
        runner: Creates guests that have loaded the source.
        observation_space: Space of observations.
        action_space: Space of actions; continuous ones are clipped to its bounds.
    """

    def __init__(
        self,
        runner: Runner,
        observation_space: gymnasium.Space[Any],
        action_space: gymnasium.Space[Any],
    ) -> None:
        self._runner, self._limits = runner, runner.limits
        self._layout = layout_of(action_space)
        layout_of(observation_space)
        self._observation_space = observation_space
        self._encoder = ObservationEncoder(observation_space)
        self._decoder = ActionDecoder(action_space, self._layout, clip=True)
        self._guest: Guest | None = None
        self._running: list[int] = []

    @property
    def running(self) -> tuple[int, ...]:
        """The lanes that have a policy."""
        return tuple(self._running)

    def start(self, trials: Mapping[int, Trial]) -> dict[int, Failure]:
        """Give lanes fresh policies, replacing those that they had.

        Args:
            trials: Trials by lane number; the seed of each determines the policy's random numbers.

        Returns:
            The failures of lanes that got none.
        """
        if self._guest is None:
            self._encoder = ObservationEncoder(self._observation_space)
            self._guest, failure = self._runner.load(self._layout)
            if failure is not None:
                self._give_up()
                return dict.fromkeys(trials, failure)
        starting = sorted(trials)
        request = {
            "stop": [lane for lane in starting if lane in self._running],
            "start": [order(lane, trials[lane]) for lane in starting],
        }
        self._running = [lane for lane in self._running if lane not in trials]
        failures: dict[int, Failure] = {}
        try:
            self._guest.send(message(wire.LANES, encode(request)), self._limits.construct_seconds)
            for count, failed in self._guest.answers(
                len(starting), wire.READY, self._limits.construct_seconds, _unread
            ):
                answered, starting = starting[:count], starting[count:]
                if isinstance(failed, bytes):
                    self._running += answered
                else:
                    failures[answered[0]] = Failure(*failed)
        except (GuestTimeoutError, GuestGoneError) as error:
            failures.update(dict.fromkeys([*trials, *self._running], self._lost(error)))
        self._running.sort()
        return failures

    def act(self, observations: Mapping[int, Any]) -> Answers:
        """Ask every running policy for an action.

        Args:
            observations: One for each lane of `running`, and for no other.

        Returns:
            An action or a failure for each of them.
        """
        waiting = list(self._running)
        if sorted(observations) != waiting:
            raise ValueError(f"the running lanes are {waiting}, not {sorted(observations)}")
        if self._guest is None or not waiting:
            return {}
        try:
            self._guest.send(
                self._encoder.message([observations[lane] for lane in waiting]), self._limits.step_seconds
            )
            came = self._guest.answers(len(waiting), wire.ACTIONS, self._limits.step_seconds, _unread)
            actions = [
                action for count, payload in came for action in decode_chunk(self._decoder, payload, count)
            ]
        except (GuestTimeoutError, GuestGoneError) as error:
            return dict.fromkeys(observations, self._lost(error))
        answers = dict(zip(waiting, map(_explain, actions), strict=True))
        self.stop([lane for lane, answer in answers.items() if isinstance(answer, Failure)])
        return answers

    def close(self) -> None:
        """End the guest; `start` creates another."""
        self._give_up()

    def stop(self, lanes: list[int]) -> None:
        """Remove lanes, also from the guest, which still has those whose actions the host refused."""
        if lanes and self._guest is not None:
            self._running = [lane for lane in self._running if lane not in lanes]
            try:
                self._guest.send(
                    message(wire.LANES, encode({"stop": lanes, "start": []})), self._limits.construct_seconds
                )
            except (GuestTimeoutError, GuestGoneError):
                self._give_up()

    def _lost(self, error: GuestTimeoutError | GuestGoneError) -> Failure:
        self._give_up()
        if isinstance(error, GuestTimeoutError):
            return Failure("timeout", f"a call took longer than {self._limits.step_seconds:g} s")
        return Failure("crashed", f"the code ended or disturbed its process ({error})")

    def _give_up(self) -> None:
        self._guest, self._running = None, []
        self._runner.end()


def _explain(action: Any) -> Any:
    """Return the action, clipped if necessary, or the failure."""
    if type(action) is Clipped:
        return action.action
    if type(action) is InvalidActionError:
        return Failure("invalid_action", str(action))
    return Failure(*action.failure) if type(action) is NoAction else action


def _unread(kind: int, _lane: int, _printed: bytes) -> None:
    """Discard what these policies print, and reject other chunks."""
    if kind != wire.OUTPUT:
        refuse()
