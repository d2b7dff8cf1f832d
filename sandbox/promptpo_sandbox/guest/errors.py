"""Failures of untrusted code as text: kind, one sentence, and the policy's own lines of the traceback."""

from __future__ import annotations

import linecache
from types import TracebackType

from promptpo_sandbox.guest.actions import InvalidActionError

POLICY_FILE = "<policy>"
MAX_FRAMES = 6
MAX_TEXT = 2000


class ContractError(TypeError):
    """The module lacks the class or method that it must have."""


class InsideError(Exception):
    """A module failed to answer a request; the cause is the exception that it raised.

    Args:
        step: Index of the step in its episode; None outside of steps.
    """

    def __init__(self, step: int | None = None) -> None:
        super().__init__(step)
        self.step = step


def remember_source(source: str) -> None:
    """Let tracebacks show the policy's lines."""
    lines = source.splitlines(keepends=True)
    linecache.cache[POLICY_FILE] = (len(source), None, lines, POLICY_FILE)


def describe_failure_of(source: str, error: BaseException) -> tuple[str, str, str]:
    """Describe a failure of a policy in the process of another module, whose lines stay remembered."""
    kept = linecache.cache.get(POLICY_FILE)
    remember_source(source)
    try:
        return describe_failure(error)
    finally:
        if kept is not None:
            linecache.cache[POLICY_FILE] = kept


def describe_failure(error: BaseException) -> tuple[str, str, str]:
    """Return kind, message and detail of an exception from untrusted code; never raises itself."""
    try:
        if isinstance(error, InsideError) and error.__cause__ is not None:
            kind, text, detail = _describe(error.__cause__)
            return kind, text if error.step is None else f"at step {error.step}: {text}", detail
        return _describe(error)
    except BaseException as second:  # noqa: BLE001 - the exception's own methods are untrusted
        return "crashed", f"the code raised an exception that raises {type(second).__name__} when shown", ""


def _describe(error: BaseException) -> tuple[str, str, str]:
    if isinstance(error, InvalidActionError):
        return "invalid_action", str(error)[: 2 * MAX_TEXT], ""
    if isinstance(error, ContractError):
        return "rejected", str(error), ""
    frames = policy_frames(error.__traceback__)
    where = f"line {frames[-1][0]}: " if frames else ""
    name = type(error).__name__
    if isinstance(error, MemoryError):
        return "memory", f"{where}the code needs more memory than it may use", _traceback(frames, name, "")
    text = " ".join(str(error).split())[:MAX_TEXT]
    if isinstance(error, SystemExit | KeyboardInterrupt | GeneratorExit):
        return "crashed", f"{where}the code raised {name} to leave; return from act instead", ""
    message = f"{where}{name}: {text}" if text else f"{where}{name}"
    return "crashed", message, _traceback(frames, name, text)


def policy_frames(trace: TracebackType | None) -> list[tuple[int, str]]:
    """Return line and function of each frame that belongs to the policy, outermost first."""
    frames = []
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == POLICY_FILE:
            frames.append((trace.tb_lineno, code.co_name))
        trace = trace.tb_next
    return frames


def _traceback(frames: list[tuple[int, str]], name: str, text: str) -> str:
    lines = []
    for number, function in frames[-MAX_FRAMES:]:
        source = linecache.getline(POLICY_FILE, number).strip()
        lines.append(f"line {number}, in {function}: {source[:200]}")
    return "\n".join([*lines, f"{name}: {text}" if text else name])
