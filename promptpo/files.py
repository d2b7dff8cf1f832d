"""Files that people give and get: read with a sentence where that fails, written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from pathlib import Path

from promptpo.errors import PromptPOError, RunError, UsageError


def read_text(path: Path) -> str:
    """The text of a file that a person named.

    Raises:
        UsageError: It cannot be read, or is no text.
    """
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"cannot read {path}: it is not text.") from error
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}.") from error


FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO})
"""What the disk does to us, whatever file is named."""


def cannot_write(path: Path, error: OSError) -> PromptPOError:
    """The sentence for a file that a person named and that could not be written: their mistake, or the disk's."""
    kind = RunError if error.errno in FULL else UsageError
    return kind(f"cannot write {path}: {error.strerror}.")


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that a kill leaves the old one or the new one, never half of either.

    What is written through is always a new file: a link that waits under its name is not followed.

    Raises:
        OSError: It cannot be written; the old one is still there.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(
        temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666
    )
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        temporary.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
