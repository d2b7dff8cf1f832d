"""Check what an environment's methods return, limit their time, and report violations in one sentence."""

from __future__ import annotations

import contextlib
import inspect
import math
import re
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
"""Characters of a wrong value shown in a message."""

ONE_AGENT = (
    "write a wrapper in which a fixed rule controls the other agents, and name it with --wrapper ./FILE.py:CLASS "
    "(docs/guides/environments.md has one)"
)

_NUMBERS = frozenset({float, int, np.float64, np.float32, bool, np.bool_, np.int64})


class ContractEnv(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Check the values an environment returns, and name it in its errors; change nothing else.

    Of observations, only the parts of dicts and tuples and the shapes of arrays are checked, not the numbers, so that
    a diverging simulation is accepted. A list in place of an array is converted.

    Args:
        env: The environment.
        name: Its name in messages.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], name: str) -> None:
        super().__init__(env)
        self._name = name
        space = env.observation_space
        self._shape = space.shape if isinstance(space, spaces.Box) else None
        self._parts = [(path, leaf.shape or ()) for path, leaf in leaves(space) if path]
        self._as_sampled = converter_to(env.action_space)

    def step(self, action: Any) -> Any:
        """Take a step and check its result.

        Raises:
            EnvironmentFaultError: The environment raised, or broke the contract.
        """
        with blaming(f"the environment {self._name}"):
            result = self.env.step(self._as_sampled(action))
        return self.check_step(result)

    def reset(self, **how: Any) -> Any:
        """Reset and check the result; raises as `step` does."""
        with blaming(f"the environment {self._name}"):
            result = self.env.reset(**how)
        return self.check_reset(result)

    def check_step(self, result: Any) -> Any:
        """Check the result of ``step`` and return it in Gymnasium's form; cheap enough for every step."""
        if not isinstance(result, tuple) or len(result) != 5:  # noqa: PLR2004 - Gymnasium's own
            raise self._fault(
                "step", _describe_result(result), "return (observation, reward, terminated, truncated, info)"
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
        """Check the result of ``reset`` and return it in Gymnasium's form."""
        if not isinstance(result, tuple) or len(result) != 2:  # noqa: PLR2004 - Gymnasium's own
            raise self._fault("reset", _describe_result(result), "return (observation, info)")
        return self._observation("reset", result[0]), result[1]

    def finite(self, reward: Any) -> None:
        """Refuse a reward that is not finite.

        Raises:
            EnvironmentFaultError: It is NaN or infinite.
        """
        if not math.isfinite(float(reward)):
            raise self._fault(
                "step", f"{float(reward)} as the reward", "return a finite number in every step"
            )

    def _read_reward(self, reward: Any) -> float:
        """Convert a reward of another type to a number; an array of one number is accepted with a note."""
        try:
            if isinstance(reward, str | bytes):
                raise TypeError
            number = float((reward if hasattr(reward, "item") else np.asarray(reward)).item())
        except (TypeError, ValueError, RuntimeError):  # the last is torch's
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
        """Return advice on a reward that is no number; for several numbers, how to combine them."""
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
            advice = f"return numbers of shape {self._shape}, as its observation_space says, or correct that"
            raise self._fault(method, came, advice)
        return array.astype(self.env.observation_space.dtype) if array is not observation else observation

    def _fault(self, method: str, came: str, advice: str) -> EnvironmentFaultError:
        return EnvironmentFaultError(
            f"{method} of the environment {self._name} returned {came}{_place(self.env, method)}; it must {advice}."
        )


@contextlib.contextmanager
def blaming(what: str, error: type[PromptPOError] = EnvironmentFaultError) -> Iterator[None]:
    """Report an exception of foreign code in one sentence, and keep its prints from our output.

    Run only foreign code inside.

    Args:
        what: The subject of the sentence, for example "the environment CartPole-v1".
        error: The class of the error to raise.

    Raises:
        PromptPOError: An `error` for any exception that is not a `PromptPOError` already.
    """
    try:
        with contextlib.redirect_stdout(foreign_output()):
            yield
    except PromptPOError:
        raise
    except (Exception, SystemExit) as fault:  # foreign code may raise anything
        raise error(f"{what} {first_line_of(fault)}{place_of(fault)}") from fault


def first_line_of(fault: BaseException) -> str:
    """Describe an exception by its type and the first line of its message."""
    return f"raised {type(fault).__name__}: {first_line(fault)}"


def first_line(fault: BaseException) -> str:
    """Return the first line of an exception's message, with the next if it ends in a colon, without the full stop."""
    found = re.match(r"(?:.*:\s*\n)*.*", str(fault).strip())
    return " ".join(found[0].split()).rstrip(".") if found and found[0] else "no message"


def _describe_result(result: Any) -> str:
    if isinstance(result, tuple):
        return f"{len(result)} value{'' if len(result) == 1 else 's'}"
    return _abbreviate(result)


def _abbreviate(value: Any) -> str:
    """Return a value's representation; of a long one the type and the beginning."""
    text = " ".join(repr(value).split())
    return (
        text
        if len(text) <= MAX_SHOWN_CHARACTERS
        else f"{type(value).__name__} {text[:MAX_SHOWN_CHARACTERS]}…"
    )


def _place(env: gymnasium.Env[Any, Any], method: str) -> str:
    """Return the file and line of the environment's method; empty if unknown."""
    try:
        function = inspect.unwrap(getattr(type(env.unwrapped), method))
        file, line = inspect.getsourcefile(function), inspect.getsourcelines(function)[1]
    except (AttributeError, TypeError, OSError):
        return ""
    return f" ({Path(file).name}, line {line})" if file else ""


BUILD_SECONDS = 300.0
"""Seconds for building an environment; some load large models or start a simulator."""

STEP_SECONDS = 60.0
"""Seconds for one reset or step."""


class _LateError(BaseException):
    """Raised inside the environment's code; no ``Exception``, since that code may catch those."""


@contextlib.contextmanager
def patience(seconds: float, what: str) -> Iterator[None]:
    """Interrupt the code inside if it takes too long.

    The alarm interrupts Python code and waiting in the main thread of a process on Unix. Elsewhere, and in compiled
    code that never returns, there is no limit; rollouts have their own in worker processes. When nested, the limit
    that ends first applies.

    Args:
        seconds: The time limit.
        what: The subject of the error message, for example "a step of CartPole-v1".

    Raises:
        EnvironmentFaultError: The code took longer.
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
