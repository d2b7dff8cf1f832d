"""The errors promptpo raises on purpose.

PromptPOError                 one sentence that says what to do; the CLI prints it without a traceback
├── UsageError                a flag, a value or a file that cannot be used as given
├── UnknownEnvironmentError   no such environment id
├── UnsupportedSpaceError     an observation or action space that no policy can be written for
├── EnvironmentFaultError     the environment itself raised, hung or died
├── RewardFaultError          a reward program (--reward, --goal) failed; policies are not to blame
├── WorkerLostError           a process that rolls out died, hung or was stopped; its work can be done again
├── SandboxFaultError         policies cannot be confined here
├── MissingExtraError         a package that an extra brings is not installed
├── RenderingError            an environment cannot be rendered, or its picture cannot be written
├── PolicyFailedError         a policy that the user asked to act did not
├── ProviderError             the language model cannot answer this call; the next may be answered
│   ├── MissingKeyError       no API key where one is needed
│   └── FatalProviderError    no later call can be answered either
├── RunError                  a run directory that cannot be read, or is open elsewhere
│   └── NoSuchRunError        what was named is no run, or the run does not have it (a UsageError, too)
└── BudgetSpentError          the next call would pass a limit; the loop turns this into a clean end

What a policy does wrong in a run is never raised: it is an outcome, a value (see ``promptpo_sandbox.Failure``). Only
whoever plays one action by action gets it as an exception, since there is no episode to report it in.
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
    """Base of all errors of promptpo; its text is one sentence that says what to do, clean whomever it quotes."""

    def __init__(self, text: str) -> None:
        super().__init__(clean(text))


class UsageError(PromptPOError, ValueError):
    """A flag, a value or a file that cannot be used as given."""


class UnknownEnvironmentError(UsageError):
    """No such environment id."""


class UnsupportedSpaceError(UsageError):
    """An observation or action space that no policy can be written for."""


class EnvironmentFaultError(PromptPOError, RuntimeError):
    """The environment itself raised, hung or died; the policy is not to blame."""


class RewardFaultError(PromptPOError, RuntimeError):
    """A reward program failed; no policy is to blame."""


FAULTS = (EnvironmentFaultError, RewardFaultError)
"""Faults of the task, which no policy is to blame for."""


class WorkerLostError(PromptPOError, RuntimeError):
    """A process that rolls out died, hung or was stopped; its work was not finished and can be done again."""


class SandboxFaultError(PromptPOError, RuntimeError):
    """Policies cannot be confined here; nothing was run."""


class MissingExtraError(PromptPOError, ImportError):
    """A package that an extra brings is not installed."""


class RenderingError(PromptPOError, RuntimeError):
    """No pictures here; the sentence says what is missing."""


class PolicyFailedError(PromptPOError, RuntimeError):
    """The policy did something wrong in the sandbox.

    Attributes:
        failure: What, and in which step.
    """

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"the policy failed ({failure.kind}): {failure.message}")
        self.failure = failure


class ProviderError(PromptPOError, RuntimeError):
    """The language model cannot answer this call; the next one may be answered."""


class MissingKeyError(ProviderError):
    """No API key where one is needed."""


class FatalProviderError(ProviderError):
    """No later call can succeed either: a wrong key, an unknown model, an exhausted recording."""


class RunError(PromptPOError, OSError):
    """A run directory that cannot be read, or is open in another process."""


class NoSuchRunError(RunError, UsageError):
    """No run, or nothing in the run, has the given name."""


class BudgetSpentError(PromptPOError):
    """The next call would pass a limit.

    Args:
        sentence: Which one, without a full stop.
        kind: "steps" where it is that of environment steps.
    """

    def __init__(self, sentence: str, kind: Literal["steps", "budget"] = "budget") -> None:
        super().__init__(sentence)
        self.kind = kind


def suggest(name: str, known: Iterable[str], otherwise: str = "", *, most: int = 1) -> str:
    """Ask "did you mean …?" of a name that is not known.

    Args:
        name: As it was given.
        known: The names that there are.
        otherwise: Returned if none of them is near.
        most: Names in the question.
    """
    by_lower = {each.lower(): each for each in known}
    near = difflib.get_close_matches(name.lower(), by_lower, most, cutoff=0.55)
    return f"did you mean {' or '.join(by_lower[each] for each in near)}?" if near else otherwise


def place_of(fault: BaseException) -> str:
    """Where the user's own code raised, as " (FILE, line N, in FUNCTION)"; empty where none of it was running.

    Args:
        fault: Raised by an environment.
    """
    frames = traceback.extract_tb(fault.__traceback__)
    return place_among((frame.filename, frame.lineno, frame.name) for frame in reversed(frames))


def place_among(frames: Iterable[tuple[str, object, str]]) -> str:
    """The same of (file, line, function), innermost first.

    What Python, libraries and we ourselves were doing around the user's code is passed over; of an environment that is
    itself an installed package, the innermost line of that package is told.
    """
    home = str(Path(__file__).parent)
    ours = (home, f"{Path(home).parent / 'sandbox'}/", "<")
    others = [(frame, _package_of(frame[0])) for frame in frames if not frame[0].startswith(ours)]
    called = [package for _, package in others if package not in {"", *CALLERS}]
    whose = None if None in called else next(reversed(called), "")
    own = [frame for frame, package in others if package == whose]
    return " ({}, line {}, in {})".format(*own[0]) if called else ""


CALLERS = ("gymnasium", "gym")
"""Packages that stand between us and an environment."""


def _package_of(file: str) -> str | None:
    """The installed package that a file belongs to, empty for Python's own; None for a user's file."""
    found = re.search(r"/(?:site|dist)-packages/([^/]+?)(?:\.py)?(?:/|$)", Path(file).as_posix())
    if found:
        return found[1]
    return "" if file.startswith(sysconfig.get_path("stdlib")) else None
