"""The contract of an environment's methods, with time limits; and the sentence for an environment that breaks it."""

from __future__ import annotations

import contextlib
import inspect
import math
import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces

from promptpo.crash_report import foreign_output
from promptpo.envs.actions import converter_to
from promptpo.envs.notes import note_once
from promptpo.envs.spaces import at, leaves, path_expression
from promptpo.errors import EnvironmentFaultError, PromptPOError, place_of

if TYPE_CHECKING:
    from collections.abc import Iterator


MAX_SHOWN_CHARACTERS = 80
"""Characters of a wrong value that a sentence shows."""

ONE_AGENT = (
    "write a wrapper in which a fixed rule controls the other agents, and name it with --wrapper ./FILE.py:CLASS "
    "(docs/guides/environments.md has one)"
)

_NUMBERS = frozenset({float, int, np.float64, np.float32, bool, np.bool_, np.int64})


class ContractEnv(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment whose returned values are checked, and whose own errors name it; nothing else changes.

    Of observations only the parts of dicts and tuples and the shapes of arrays are looked at: what is inside of them is
    the environment's own, and a simulation that diverges has to be lived with. A list in the place of an array becomes one.

    Args:
        env: The environment.
        name: For messages.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], name: str) -> None:
        super().__init__(env)
        self._name = name
        space = env.observation_space
        self._shape = space.shape if isinstance(space, spaces.Box) else None
        self._parts = [(path, leaf.shape or ()) for path, leaf in leaves(space) if path]
        self._as_sampled = converter_to(env.action_space)

    def step(self, action: Any) -> Any:
        """Step, and look at what came.

        Raises:
            EnvironmentFaultError: The environment raised, or returned something else.
        """
        with blaming(f"the environment {self._name}"):
            result = self.env.step(self._as_sampled(action))
        return self.check_step(result)

    def reset(self, **how: Any) -> Any:
        """Reset, and look at what came; raises as `step` does."""
        with blaming(f"the environment {self._name}"):
            result = self.env.reset(**how)
        return self.check_reset(result)

    def check_step(self, result: Any) -> Any:
        """Check the result of ``step`` and return it as Gymnasium wants it; cheap enough for every step."""
        if not isinstance(result, tuple) or len(result) != 5:  # noqa: PLR2004 - Gymnasium's own
            raise self._fault(
                "step", _sort(result), "return (observation, reward, terminated, truncated, info)"
            )
        if type(result[1]) not in _NUMBERS:
            result = (result[0], self._read_reward(result[1]), *result[2:])
        if not isinstance(result[4], dict):
            raise self._fault(
                "step", f"{_abbreviate(result[4])} as the info", "return a dict, which may be empty"
            )
        observation = result[0]
        if self._parts or getattr(observation, "shape", None) != self._shape or observation is None:
            return (self._observation("step", observation), *result[1:])
        return result

    def check_reset(self, result: Any) -> Any:
        """Check the result of ``reset`` and return it as Gymnasium wants it."""
        if not isinstance(result, tuple) or len(result) != 2:  # noqa: PLR2004 - Gymnasium's own
            raise self._fault("reset", _sort(result), "return (observation, info)")
        return self._observation("reset", result[0]), result[1]

    def finite(self, reward: Any) -> None:
        """Refuse a reward that is no finite number.

        Raises:
            EnvironmentFaultError: It is NaN or infinite.
        """
        if not math.isfinite(float(reward)):
            raise self._fault(
                "step", f"{float(reward)} as the reward", "return a finite number in every step"
            )

    def _read_reward(self, reward: Any) -> float:
        """A reward of another type as a number; of an array of one number that number, with a note."""
        try:
            if isinstance(reward, str | bytes) or np.size(reward) != 1:
                raise TypeError
            number = float(np.asarray(reward).item())
        except (TypeError, ValueError):
            raise self._fault(
                "step", f"{_abbreviate(reward)} as the reward", self._advise_on_reward(reward)
            ) from None
        if np.ndim(reward):
            note_once(
                f"reward of {self._name}",
                f"step of the environment {self._name} returns {_abbreviate(reward)} as the reward; its single number is used.",
            )
        return number

    def _advise_on_reward(self, reward: Any) -> str:
        """Say what to do about a reward that is no number; of several, how to combine them."""
        several = len(reward) if isinstance(reward, list | tuple | np.ndarray) and np.ndim(reward) == 1 else 0
        base = self.env.unwrapped
        if isinstance(reward, dict) or (several and isinstance(base.action_space, spaces.Tuple)):
            return f"return a number: a policy is one agent; {ONE_AGENT}"
        if several > 1:
            weights = f"[{', '.join(['1.0'] * several)}]"
            linear = f'mo_gymnasium.wrappers:LinearReward{{"weight": {weights}}}'
            own = f"write a gymnasium.RewardWrapper whose reward(self, reward) returns float(np.dot(reward, {weights})), and name it with --wrapper ./FILE.py:CLASS"
            return "return one number; weigh the {}: {}".format(
                several, f"--wrapper '{linear}'" if hasattr(base, "reward_space") else own
            )
        return "return a number, such as 0.0"

    def _observation(self, method: str, observation: Any) -> Any:
        if observation is None:
            raise self._fault(
                method, "None as the observation", "return what its observation_space describes"
            )
        for path, shape in self._parts:
            part, came = path_expression("obs", path), None
            with contextlib.suppress(LookupError, TypeError, ValueError):
                came = np.shape(at(observation, path))
            if came is None or (shape and came != shape):
                lacks = f"{_abbreviate(observation)}, without {part}"
                which = lacks if came is None else f"an observation whose {part} has shape {came}"
                raise self._fault(
                    method, which, f"return {part} of shape {shape}" if shape else f"return {part}"
                )
        if self._shape is None:
            return observation
        try:
            array = np.asarray(observation)
        except ValueError:  # rows of different lengths
            array = np.array(None)
        if array.shape != self._shape or array.dtype.kind not in "biuf":
            came = (
                f"an observation of shape {array.shape}"
                if array.dtype.kind in "biuf"
                else _abbreviate(observation)
            )
            wants = f"return numbers of shape {self._shape}, as its observation_space says, or correct that"
            raise self._fault(method, came, wants)
        return array.astype(self.env.observation_space.dtype) if array is not observation else observation

    def _fault(self, method: str, came: str, wants: str) -> EnvironmentFaultError:
        return EnvironmentFaultError(
            f"{method} of the environment {self._name} returned {came}{_place(self.env, method)}; it must {wants}."
        )


@contextlib.contextmanager
def blaming(what: str, error: type[PromptPOError] = EnvironmentFaultError) -> Iterator[None]:
    """Say in one sentence what foreign code raised, and whose it was; what it prints is kept from our output.

    Nothing of ours may run inside.

    Args:
        what: Begins the sentence: "the environment CartPole-v1".
        error: The kind of the sentence.

    Raises:
        PromptPOError: Of that kind, for anything but an error of ours.
    """
    try:
        with contextlib.redirect_stdout(foreign_output()):
            yield
    except PromptPOError:
        raise
    except (Exception, SystemExit) as fault:  # foreign code: anything can come out of it
        raise error(f"{what} {first_line_of(fault)}{place_of(fault)}") from fault


def first_line_of(fault: BaseException) -> str:
    """Return the first line of an exception's message, with its type."""
    return f"raised {type(fault).__name__}: {first_line(fault)}"


def first_line(fault: BaseException) -> str:
    """The first line of its own words, without the full stop."""
    return next(iter(str(fault).strip().splitlines()), "no message").rstrip(".")


def _sort(result: Any) -> str:
    if isinstance(result, tuple):
        return f"{len(result)} value{'' if len(result) == 1 else 's'}"
    return _abbreviate(result)


def _abbreviate(value: Any) -> str:
    """A value, or its kind where it is long."""
    text = " ".join(repr(value).split())
    return (
        text
        if len(text) <= MAX_SHOWN_CHARACTERS
        else f"{type(value).__name__} {text[:MAX_SHOWN_CHARACTERS]}…"
    )


def _place(env: gymnasium.Env[Any, Any], method: str) -> str:
    """Where the user's own method is written; empty where that cannot be told."""
    try:
        function = getattr(type(env.unwrapped), method)
        file, line = inspect.getsourcefile(function), inspect.getsourcelines(function)[1]
    except (AttributeError, TypeError, OSError):
        return ""
    return f" ({Path(file).name}, line {line})" if file else ""


BUILDING = 300.0
"""Seconds for building an environment: some load large models, or start a simulator."""

STEPPING = 60.0
"""Seconds for one reset or step."""


class _LateError(BaseException):
    """Raised inside the environment's code, which may well catch every ``Exception``."""


@contextlib.contextmanager
def patience(seconds: float, what: str) -> Iterator[None]:
    """Give up on what takes too long.

    The alarm interrupts Python code and waiting, in the main thread of a process on Unix. Elsewhere, and
    in compiled code that never returns, there is no limit; rollouts have their own, in worker processes.
    Inside another one of which less time is left, that one gives up.

    Args:
        seconds: How long it may take.
        what: Names it: "a step of CartPole-v1".

    Raises:
        EnvironmentFaultError: It took longer.
    """
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return
    remaining, _ = signal.getitimer(signal.ITIMER_REAL)
    if 0 < remaining <= seconds:
        yield
        return

    def late(_signal: int, _frame: Any) -> None:
        raise _LateError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    started = time.monotonic()
    try:
        yield
    except _LateError:
        raise EnvironmentFaultError(
            f"{what} took more than {seconds:g} seconds; the environment seems to hang."
        ) from None
    finally:
        signal.signal(signal.SIGALRM, before)
        left = max(1e-3, remaining - (time.monotonic() - started)) if remaining else 0.0
        signal.setitimer(signal.ITIMER_REAL, left)
