"""What ``promptpo spec`` prints."""

from __future__ import annotations

from pathlib import Path

from promptpo.cli.options import one_of
from promptpo.errors import UsageError
from promptpo.records import Task
from promptpo.spec import check_spec, describe


def text_of(task: Task, *, reveal: str, detail: str) -> str:
    """The spec of a task."""
    return describe(
        task,
        reveal=one_of("--reveal", reveal, ("named", "anonymous", "bare")),
        detail=one_of("--spec-detail", detail, ("short", "normal", "full")),
    ).text


def check_file(path: Path, task: Task) -> list[str]:
    """What an edited spec file says that the environment contradicts, one line each."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read {path}: {getattr(error, 'strerror', None) or 'it is not text'}."
        ) from error
    return [f"{path}: {problem}" for problem in check_spec(text, task)]
