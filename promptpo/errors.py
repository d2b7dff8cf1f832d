"""Errors that promptpo raises on purpose.

PromptPOError                 one sentence that says what to do; the CLI prints it without a traceback
├── UsageError                a flag, a value or a file cannot be used as given
├── UnknownEnvironmentError   there is no environment with this id
├── UnsupportedSpaceError     no policy can be written for an observation or action space
├── EnvironmentFaultError     the environment itself raised, hung or died
├── RewardFaultError          a reward program (--reward, --goal) failed; policies are not to blame
├── WorkerLostError           a rollout process died, hung or was stopped; its work can be repeated
├── SandboxFaultError         policies cannot be confined here
├── MissingExtraError         a package of an extra is not installed
├── RenderingError            an environment cannot be rendered, or its picture cannot be written
├── PolicyFailedError         a policy failed while the user stepped it directly
├── ProviderError             the language model cannot answer this call; the next may be answered
│   ├── MissingKeyError       a required API key is missing
│   └── FatalProviderError    no later call can be answered either
├── RunError                  a run directory cannot be read, or is open elsewhere
│   └── NoSuchRunError        there is no such run, or the run has no such item (also a UsageError)
└── BudgetSpentError          the next call would exceed a limit; the loop then ends cleanly

A policy's failure in a run is never raised: it is an outcome, a value (see ``promptpo_sandbox.Failure``). Only code that
plays a policy action by action gets it as an exception, since there is no episode to report it in.
"""

from __future__ import annotations

import difflib
import re
import sysconfig
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from promptpo_sandbox.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from promptpo_sandbox import Failure


class PromptPOError(Exception):
    """Base class of promptpo's errors; its text is one sentence that says what to do, with quoted text cleaned."""

    def __init__(self, text: str) -> None:
        super().__init__(clean(text))


class UsageError(PromptPOError, ValueError):
    """A flag, a value or a file cannot be used as given."""


class UnknownEnvironmentError(UsageError):
    """There is no environment with this id."""


class UnsupportedSpaceError(UsageError):
    """No policy can be written for an observation or action space."""


class EnvironmentFaultError(PromptPOError, RuntimeError):
    """The environment itself raised, hung or died; the policy is not to blame."""


class RewardFaultError(PromptPOError, RuntimeError):
    """A reward program failed; no policy is to blame."""


FAULTS = (EnvironmentFaultError, RewardFaultError)
"""Faults of the task, for which no policy is to blame."""


class WorkerLostError(PromptPOError, RuntimeError):
    """A rollout process died, hung or was stopped; its work is unfinished and can be repeated."""


class SandboxFaultError(PromptPOError, RuntimeError):
    """Policies cannot be confined here; nothing was run."""


class MissingExtraError(PromptPOError, ImportError):
    """A package of an extra is not installed."""


class RenderingError(PromptPOError, RuntimeError):
    """Pictures cannot be rendered or written here; the message says what is missing."""


class PolicyFailedError(PromptPOError, RuntimeError):
    """A policy failed in the sandbox.

    Attributes:
        failure: The failure and its step.
    """

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"the policy failed ({failure.kind}): {failure.message}")
        self.failure = failure


class ProviderError(PromptPOError, RuntimeError):
    """The language model cannot answer this call; the next one may be answered."""


class MissingKeyError(ProviderError):
    """A required API key is missing."""


class FatalProviderError(ProviderError):
    """No later call can succeed either: a wrong key, an unknown model, an exhausted recording."""


class RunError(PromptPOError, OSError):
    """A run directory cannot be read, or is open in another process."""


class NoSuchRunError(RunError, UsageError):
    """There is no run, or nothing in the run, with the given name."""


class BudgetSpentError(PromptPOError):
    """The next call would exceed a limit.

    Args:
        sentence: The limit that is reached, without a full stop.
        kind: "steps" for the limit on environment steps.
    """

    def __init__(self, sentence: str, kind: Literal["steps", "budget"] = "budget") -> None:
        super().__init__(sentence)
        self.kind = kind


def suggest(name: str, known: Iterable[str], otherwise: str = "", *, most: int = 1) -> str:
    """Return the question "did you mean …?" for an unknown name.

    Args:
        name: The unknown name.
        known: All known names.
        otherwise: Returned if no known name is close.
        most: Maximum number of names in the question.
    """
    by_lower = {each.lower(): each for each in known}
    near = difflib.get_close_matches(name.lower(), by_lower, most, cutoff=0.55)
    return f"did you mean {' or '.join(by_lower[each] for each in near)}?" if near else otherwise


def place_of(fault: BaseException) -> str:
    """Return where the user's own code raised, as " (FILE, line N, in FUNCTION)"; empty if it was not running.

    Args:
        fault: Exception raised by an environment.
    """
    frames = traceback.extract_tb(fault.__traceback__)
    return place_among((frame.filename, frame.lineno, frame.name) for frame in reversed(frames))


def place_among(frames: Iterable[tuple[str, object, str]]) -> str:
    """Like `place_of`, for (file, line, function) frames, innermost first.

    Frames of Python, libraries and promptpo around the user's code are skipped; for an environment that is itself an installed
    package, the innermost line of that package is named.
    """
    home = str(Path(__file__).parent)
    ours = (home, f"{Path(home).parent / 'sandbox'}/", "<")
    others = [(frame, _package_of(frame[0])) for frame in frames if not frame[0].startswith(ours)]
    called = [package for _, package in others if package not in {"", *CALLERS}]
    whose = None if None in called else next(reversed(called), "")
    own = [frame for frame, package in others if package == whose]
    return " ({}, line {}, in {})".format(*own[0]) if called else ""


CALLERS = ("gymnasium", "gym")
"""Packages that call environments on our behalf."""


def _package_of(file: str) -> str | None:
    """Return the installed package of a file, empty for Python's own; None for a user's file."""
    found = re.search(r"/(?:site|dist)-packages/([^/]+?)(?:\.py)?(?:/|$)", Path(file).as_posix())
    if found:
        return found[1]
    return "" if file.startswith(sysconfig.get_path("stdlib")) else None
