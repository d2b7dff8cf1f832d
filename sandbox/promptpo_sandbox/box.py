"""The sandbox as its users see it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Self

import gymnasium

from promptpo_sandbox.answers import read_text
from promptpo_sandbox.asked import Asked, AskFailedError
from promptpo_sandbox.cores import CoreClaim
from promptpo_sandbox.errors import SandboxBrokenError, SandboxUnavailableError
from promptpo_sandbox.lockstep.asking import AskedPolicies
from promptpo_sandbox.lockstep.progress import Progress
from promptpo_sandbox.lockstep.rollout import Guests, Runner
from promptpo_sandbox.pipes import Guest
from promptpo_sandbox.process import GuestUsage, Zygote
from promptpo_sandbox.results import (
    CallResult,
    Layers,
    Level,
    Limits,
    PlainData,
    Record,
    Rollout,
    SandboxStatus,
    Trial,
)
from promptpo_sandbox.rewards import AskedReward, RewardFailedError
from promptpo_sandbox.seeds import digest_of
from promptpo_sandbox.text import clean

_LEVELS: tuple[Level, ...] = ("strong", "medium", "weak")
_ESSENTIAL = ("rlimits", "no_new_privileges", "landlock", "seccomp")


class Sandbox:
    """Runs untrusted policies in confined processes.

    A clean process (the zygote) starts with the first use; every source then runs in a fresh child of it,
    without environment variables, files, network or the right to start programs. Use from one thread::

        with Sandbox(Limits(step_seconds=0.5)) as box:
            rollout = box.rollout(source, [gymnasium.make("CartPole-v1")], [Trial(seed=0)])
            print(rollout.failure or rollout.episodes[0].return_)

    A policy that fails leaves a `Failure` in the result, and never raises. Exceptions of an environment
    propagate unchanged.

    Args:
        limits: Resource limits of policies.
        layers: Which layers of protection to apply; all by default.
        allow_weaker: Run even if this system lacks layers.
        core: The core that host and guest share during a rollout; None claims a free one, -1 leaves it to the
            scheduler.
        modules: Trusted modules with which guests read texts, by name, with the directories of their packages.

    Raises:
        SandboxUnavailableError: This is not Linux.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        layers: Layers | None = None,
        allow_weaker: bool = False,
        core: int | None = None,
        modules: Mapping[str, str] | None = None,
    ) -> None:
        if sys.platform != "linux":
            raise SandboxUnavailableError("the sandbox works on Linux only")
        self.limits = limits or Limits()
        self.layers = layers or Layers()
        self.allow_weaker = allow_weaker
        self._core, self._modules = core, modules or {}
        self._claim: CoreClaim | None = None
        self._zygote: Zygote | None = None
        self._status: SandboxStatus | None = None
        self._beside: Sandbox | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def status(self) -> SandboxStatus:
        """The layers in force on this machine.

        Raises:
            SandboxUnavailableError: Layers are missing and that was not accepted.
        """
        if self._status is None:
            self._new_guest()
            self._end_guest()
        assert self._status is not None  # noqa: S101 - set with the first guest
        return self._status

    def rollout(
        self,
        source: str,
        envs: Sequence[gymnasium.Env[Any, Any]],
        trials: Sequence[Trial],
        *,
        record: Record = False,
        clip_actions: bool = False,
        stop_on_failure: bool = True,
        on_step_limit: int | None = None,
        reward: str = "",
        apart: bool = False,
    ) -> Rollout:
        """Roll out a policy.

        ``min(len(envs), len(trials))`` episodes advance in lockstep, each in an environment and a fresh ``Policy`` of
        its own. Results do not depend on the number of environments, and are in the order of the trials.

        Args:
            source: A module with ``class Policy``.
            envs: Environments of one kind; the caller owns and may reuse them.
            trials: The episodes.
            record: Keep trajectories; "seen" keeps what ``perceive`` returned instead of observations, which may be
                images; "info" also keeps the numeric entries of the environment's ``info``.
            clip_actions: Clip continuous actions to their bounds, and count them; otherwise they are failures.
            stop_on_failure: End with the first failing trial, in order: those before it finish, those after it are left
                out. Otherwise each trial has its own result.
            on_step_limit: Maximum number of environment steps in total; trials unfinished by then are left out.
            reward: A module with ``class Reward``, whose rewards replace the environment's, in a guest of its own.
            apart: Play each episode in a guest of its own, one after the other, so that no state carries over.

        Raises:
            RewardFailedError: The reward program failed.
            SandboxUnavailableError: Layers are missing and that was not accepted.
            UnsupportedSpaceError: Observations or actions cannot cross the border.
            ValueError: There is no environment.
        """
        if not trials:
            return Rollout((), None, 0, "", 0.0)
        if not envs:
            raise ValueError("rollout needs at least one environment")
        runner, used = self._runner(source), list(envs)[: len(trials)]
        progress = Progress(trials, stop_on_failure, on_step_limit, self.limits.output_bytes)
        try:
            with (
                self._claim_core().use(),
                contextlib.closing(self.rewarding(reward)) if reward else contextlib.nullcontext() as asked,
            ):
                return runner.run(
                    used, progress, record=record, clip_actions=clip_actions, reward=asked, apart=apart
                )
        except BaseException:
            self._end_guest()
            raise

    def rewarding(self, source: str) -> AskedReward:
        """Open a reward program that scores steps, in a guest beside that of this sandbox; one at a time.

        Args:
            source: A module with ``class Reward``; see `promptpo_sandbox.guest.rewards`.

        Raises:
            RewardFailedError: The source is rejected.
            SandboxUnavailableError: Layers are missing and that was not accepted.
        """
        if self._beside is None:  # a sandbox has one guest at a time
            self._beside = self.beside(self.limits)
        instead = "; return a number from step instead"
        return AskedReward(self._beside.asking(source, "it", instead, RewardFailedError))

    def open_policies(
        self,
        source: str,
        observation_space: gymnasium.Space[Any],
        action_space: gymnasium.Space[Any],
    ) -> AskedPolicies:
        """Open policies that choose actions in environments of the caller's own; one set at a time.

        Args:
            source: A module with ``class Policy``.
            observation_space: Space of observations.
            action_space: Space of actions; continuous ones are clipped to its bounds.

        Raises:
            UnsupportedSpaceError: Observations or actions cannot cross the border.
        """
        return AskedPolicies(self._runner(source), observation_space, action_space)

    def beside(self, limits: Limits, modules: Mapping[str, str] | None = None) -> Sandbox:
        """Return another sandbox with the same layers, which the caller closes.

        Args:
            limits: Resource limits there.
            modules: See `Sandbox`; an empty directory stands for an installed package.
        """
        return Sandbox(limits, layers=self.layers, allow_weaker=self.allow_weaker, core=-1, modules=modules)

    def asking(self, source: str, name: str, instead: str, error: type[AskFailedError]) -> Asked:
        """Load a module in a fresh guest that answers requests for plain data until its `Asked` is closed.

        Args:
            source: The module.
            name: Its name in messages of failures.
            instead: What to do instead of disturbing the process; ends such a message.
            error: The exception raised for a failure.

        Raises:
            AskFailedError: The source is rejected, as `error`.
        """
        return self._runner(source).open_asked(name, instead, error)

    def _claim_core(self) -> CoreClaim:
        if self._claim is None:
            self._claim = CoreClaim(self._core)
        return self._claim

    def call(self, source: str, target: str, argument: PlainData) -> CallResult:
        """Call one function, or one method of a freshly constructed class, that returns text.

        Args:
            source: A module.
            target: ``"function"`` or ``"Class.method"``.
            argument: Its only argument: plain data.

        Raises:
            SandboxUnavailableError: Layers are missing and that was not accepted.
            PlainDataError: The argument is not plain data.
        """
        request = {
            "target": target,
            "argument": argument,
            "digest": digest_of(0),
            "text_bytes": self.limits.text_bytes,
        }
        value, failure, printed = None, None, b""
        try:
            asked = self.asking(source, target, "; return a str instead", AskFailedError)
            try:
                value = asked.ask("call", request, partial(read_text, most=self.limits.text_bytes), values=1)
            finally:
                printed = asked.printed
        except AskFailedError as error:
            failure = error.failure
        finally:
            self._end_guest()
        text = clean(printed.decode("utf-8", "replace"))[: self.limits.output_bytes]
        return CallResult(value, failure, text)

    def open_reader(self) -> Asked:
        """Start a guest that reads texts with functions of the given modules; see `promptpo_sandbox.reader`."""
        return Asked(self._new_guest(), self.limits, self._end_guest, "reading it", "; write it plainer")

    def close(self) -> None:
        """End all processes; the sandbox starts them again if it is used again."""
        if self._zygote is not None:
            self._zygote.close()
            self._zygote = None
        if self._claim is not None:
            self._claim.close()
            self._claim = None
        if self._beside is not None:
            self._beside.close()
            self._beside = None

    def _runner(self, source: str) -> Runner:
        return Runner(Guests(self._new_guest, self._end_guest), self.limits, source, gate=self.layers.gate)

    def _new_guest(self) -> Guest:
        for attempt in (1, 2):
            zygote = self._zygote
            if zygote is None or not zygote.alive:
                if zygote is not None:
                    zygote.close()
                zygote = self._zygote = Zygote(self.limits, self.layers, self._modules)
            try:
                guest, active, missing = zygote.fork(None if self._claim is None else self._claim.core)
            except SandboxBrokenError:
                zygote.close()
                self._zygote = None
                if attempt == 2:  # noqa: PLR2004
                    raise
                continue
            self._note_status(active, missing)
            return guest
        raise AssertionError  # unreachable

    def _end_guest(self) -> GuestUsage | None:
        """End the guest and return its usage; None if its parent has died as well, which the next guest will replace."""
        if self._zygote is not None:
            with contextlib.suppress(SandboxBrokenError):
                return self._zygote.end()
        return None

    def _note_status(self, active: list[str], missing: list[str]) -> None:
        status = self._judge_layers(active, missing)
        if self._status is None or _LEVELS.index(status.level) > _LEVELS.index(self._status.level):
            self._status = status
        if status.level != "strong" and not self.allow_weaker:
            lacking = "; ".join(status.missing)
            self._end_guest()
            raise SandboxUnavailableError(
                f"the sandbox lacks layers of protection here ({lacking}); "
                "accept that explicitly, or run on Linux 5.13 or newer with Landlock"
            )

    def _judge_layers(self, active: list[str], missing: list[str]) -> SandboxStatus:
        """Judge the layers that are in force in one guest."""
        names = [name for name in ("gate", "environment") if getattr(self.layers, name)]
        off = [f"{name}: switched off" for name in ("gate", "environment") if not getattr(self.layers, name)]
        still_root = any(reason.startswith("user:") for reason in missing)
        level: Level = "weak"
        if "seccomp" in active:
            level = "strong" if {*active} >= {*_ESSENTIAL} and not still_root else "medium"
        return SandboxStatus(level, (*names, *active), (*off, *missing))
