"""Files for users and runs: read with one-sentence errors, written atomically."""

from __future__ import annotations

import atexit
import contextlib
import errno
import json
import os
import re
import secrets
import stat
import tomllib
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from promptpo.errors import PromptPOError, RunError, UsageError
from promptpo_sandbox.text import clean, clean_values, is_clean

StrPath: TypeAlias = str | os.PathLike[str]
"""A path given by a user."""

Json: TypeAlias = Mapping[str, Any]
"""A JSON object."""


_claimed: list[Path] = []

FOLDER_MODE = 0o700
"""Mode of a run's folders: private to the user who began it, unless that user changes it."""


def create_directory(path: Path, mode: int = 0o777) -> None:
    """Create a directory that a user named, unless it exists.

    Raises:
        UsageError: The path, or a parent of it, is a file.
        OSError: The directory cannot be created.
    """
    try:
        path.mkdir(mode, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        file = next(place for place in (path, *path.parents) if os.path.lexists(place))
        raise UsageError(
            f"{file} is a file, so the folder {path} cannot be created; choose another folder."
        ) from error


def claim_directory(path: Path) -> bool:
    """Create a directory and return True, or False if it exists; a directory left empty is removed at exit."""
    create_directory(path.parent)
    try:
        path.mkdir(mode=FOLDER_MODE)
    except FileExistsError:
        return False
    _claimed.append(path.absolute())
    return True


@atexit.register
def release_empty() -> None:
    """Remove claimed directories that are empty, and their parents if empty."""
    while _claimed:
        path = _claimed.pop()
        with contextlib.suppress(OSError):
            path.rmdir()
            path.parent.rmdir()


def read_text(path: Path, *, links: bool = True) -> str:
    """Return the text of a file, cleaned of hidden characters and terminal controls.

    Args:
        path: The file.
        links: Whether it may be a symbolic link; see `read_regular`.

    Raises:
        UsageError: The file cannot be read, or is not text.
    """
    try:
        return clean(read_regular(path, links=links).decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageError(f"cannot read {path}: it is not text.") from error
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}.") from error


MAX_FILE_BYTES = 1 << 28
"""Size limit on a run's files; promptpo writes none that are larger."""


def read_regular(path: Path, *, links: bool = False) -> bytes:
    """Return the content of a run's file, which may be a stranger's: a regular file of bounded size.

    Args:
        path: The file.
        links: Whether it may be a symbolic link, as for files named by a user rather than a run.

    Raises:
        OSError: The file cannot be read, is not regular or is too large.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if links else os.O_NOFOLLOW))
    with os.fdopen(descriptor, "rb") as file:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        if about.st_size > MAX_FILE_BYTES:
            raise OSError(errno.EFBIG, "it is too large")
        return file.read(about.st_size)


MOST_VALUES = 1 << 24
"""Maximum number of values in a JSON file; each may take a hundred bytes of memory."""


def check_json_bounds(content: bytes) -> bytes:
    """Return the content of an untrusted JSON file unchanged, after checking its size.

    Raises:
        ValueError: It is too large, or may contain too many values.
    """
    if len(content) > MAX_FILE_BYTES or sum(map(content.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise ValueError(f"it holds more than {MAX_FILE_BYTES >> 20} MB or {MOST_VALUES:,} values")
    return content


def parse_json(content: bytes) -> Any:
    """Parse untrusted JSON and clean its strings.

    Raises:
        ValueError: The content is no JSON, is nested too deeply, or has too many values.
    """
    text = check_json_bounds(content).decode("utf-8", "surrogatepass")
    try:
        return json.loads(text) if is_clean(text) else clean_values(json.loads(text))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def read_json(path: Path) -> Any:
    """Read a JSON file of a run; see `read_regular` and `parse_json`.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is not valid JSON.
    """
    return parse_json(read_regular(path))


def read_toml(path: Path) -> dict[str, Any]:
    """Read and clean a TOML file that a user named.

    Raises:
        UsageError: The file cannot be read.
    """
    try:
        table: dict[str, Any] = clean_values(tomllib.loads(read_text(path)))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"cannot read {path}: {error}.") from error
    return table


_ODD = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)


@contextlib.contextmanager
def reading(what: object) -> Iterator[None]:
    """Turn errors from interpreting damaged files into one sentence.

    Raises:
        RunError: An unexpected error was raised; the message says where.
    """
    try:
        yield
    except PromptPOError:
        raise
    except _ODD as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        description = f"{type(error).__name__}: {error}"[:200]
        raise RunError(
            f"{what} cannot be read any further ({description}, at {Path(place.filename).name}:{place.lineno}): "
            "it is damaged, or this is a bug in promptpo."
        ) from error


_NAME = re.compile(r"\w[\w.+-]{0,99}")


def file_name(name: object) -> str:
    """Check a name from a journal or a result before it becomes part of a path, and return it.

    Raises:
        RunError: The name is not valid for a file.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise RunError(f"the run names {repr(name)[:100]}, which is not a file name.")
    return name


def make_folder(path: Path) -> None:
    """Create a folder of a run, unless it exists; a symbolic link does not count.

    Raises:
        OSError: The folder cannot be created.
    """
    path.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
    if path.is_symlink():
        raise NotADirectoryError(errno.ENOTDIR, "it is a link", str(path))


FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO})
"""Errors of the disk that do not depend on the file's name."""


def write_named(path: Path, content: str | bytes) -> None:
    """Write a file that a user named, atomically.

    Raises:
        UsageError: The file cannot be written there.
        RunError: The disk rejects the write.
    """
    try:
        write_atomically(path, content)
    except OSError as error:
        kind = RunError if error.errno in FULL else UsageError
        raise kind(f"cannot write {path}: {error.strerror}.") from error


def write_atomically(path: Path, content: str | bytes, *, synced: bool = False) -> None:
    """Write a file so that a kill leaves the old one or the new one, never half of either.

    The content always goes to a new file, so a symbolic link at the path is replaced, not followed.

    Args:
        path: The file.
        content: The content; text is written as UTF-8.
        synced: Whether the file is on disk when this returns.

    Raises:
        OSError: The file cannot be written; the old one is unchanged.
    """
    temporary = path.parent / f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}"
    descriptor = os.open(
        temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666
    )
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            if synced:
                file.flush()
                os.fsync(descriptor)
        temporary.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
