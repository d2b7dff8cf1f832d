"""Files that people give and get: read with a sentence where that fails, written whole or not at all."""

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
"""A path as people give it."""

Json: TypeAlias = Mapping[str, Any]
"""A JSON object."""


_claimed: list[Path] = []

FOLDER_MODE = 0o700
"""Of the folders of a run: what was said and paid is for who began it, until that person says otherwise."""


def create_directory(path: Path, mode: int = 0o777) -> None:
    """Create a directory that a person named, or find it there.

    Raises:
        UsageError: A file has that name, or the name of a directory above it.
        OSError: It cannot be written.
    """
    try:
        path.mkdir(mode, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        file = next(place for place in (path, *path.parents) if os.path.lexists(place))
        raise UsageError(
            f"{file} is a file, so that no folder {path} can be created; name another folder."
        ) from error


def claim_directory(path: Path) -> bool:
    """Make a directory that nobody else has made; whether that was so. One that stays empty is removed in the end."""
    create_directory(path.parent)
    try:
        path.mkdir(mode=FOLDER_MODE)
    except FileExistsError:
        return False
    _claimed.append(path.absolute())
    return True


@atexit.register
def release_empty() -> None:
    """Remove claimed directories that are empty, and the one above them where it is empty then."""
    while _claimed:
        path = _claimed.pop()
        with contextlib.suppress(OSError):
            path.rmdir()
            path.parent.rmdir()


def read_text(path: Path, *, links: bool = True) -> str:
    """The text of a file, clean: nothing in it hides, or steers a terminal.

    Args:
        path: Of the file.
        links: Whether it may be reached through a link; see `read_regular`.

    Raises:
        UsageError: It cannot be read, or is no text.
    """
    try:
        return clean(read_regular(path, links=links).decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageError(f"cannot read {path}: it is not text.") from error
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}.") from error


MAX_FILE_BYTES = 1 << 28
"""Of a file in a run; what is larger is none of ours."""


def read_regular(path: Path, *, links: bool = False) -> bytes:
    """The content of a file of a run, which may be a stranger's: a regular file of bounded size.

    Args:
        path: Of the file.
        links: Whether it may be reached through a link: a person named it, not a run.

    Raises:
        OSError: It cannot be read, or is no such file.
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
"""In a JSON file; each may take a hundred bytes of memory."""


def check_json_bounds(content: bytes) -> bytes:
    """The content of a JSON file, whoever wrote it.

    Raises:
        ValueError: It is larger, or may hold more values, than what is read.
    """
    if len(content) > MAX_FILE_BYTES or sum(map(content.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise ValueError(f"it holds more than {MAX_FILE_BYTES >> 20} MB or {MOST_VALUES:,} values")
    return content


def parse_json(content: bytes) -> Any:
    """Parse JSON that may come from anywhere; its texts are cleaned.

    Raises:
        ValueError: It is none, is nested too deeply, or has too many values.
    """
    text = check_json_bounds(content).decode("utf-8", "surrogatepass")
    try:
        return json.loads(text) if is_clean(text) else clean_values(json.loads(text))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def read_json(path: Path) -> Any:
    """Read a JSON file of a run; see `read_regular` and `parse_json`.

    Raises:
        OSError: It cannot be read.
        ValueError: It is no such file.
    """
    return parse_json(read_regular(path))


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file that a person named, cleaned.

    Raises:
        UsageError: It cannot be read.
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
    """Make one sentence of what taking files apart raises that do not hold what they are to hold.

    Raises:
        RunError: Something was raised that is no sentence yet; it says where.
    """
    try:
        yield
    except PromptPOError:
        raise
    except _ODD as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__}: {error}"[:200]
        raise RunError(
            f"{what} cannot be read any further ({said}, at {Path(place.filename).name}:{place.lineno}): "
            "it is damaged, or promptpo is at fault."
        ) from error


_NAME = re.compile(r"\w[\w.+-]{0,99}")


def file_name(name: object) -> str:
    """A name that a journal or a result gives, before it becomes part of a path.

    Raises:
        RunError: No file is called so.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise RunError(f"the run names {repr(name)[:100]}, which is not a file name.")
    return name


def make_folder(path: Path) -> None:
    """Make a folder of a run, or find it there; a link to one is none.

    Raises:
        OSError: It cannot be made.
    """
    path.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
    if path.is_symlink():
        raise NotADirectoryError(errno.ENOTDIR, "it is a link", str(path))


FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO})
"""What the disk does to us, whatever file is named."""


def write_named(path: Path, content: str | bytes) -> None:
    """Write a file that a person named, whole or not at all.

    Raises:
        UsageError: It cannot be written there.
        RunError: The disk does not take it.
    """
    try:
        write_atomically(path, content)
    except OSError as error:
        kind = RunError if error.errno in FULL else UsageError
        raise kind(f"cannot write {path}: {error.strerror}.") from error


def write_atomically(path: Path, content: str | bytes, *, synced: bool = False) -> None:
    """Write a file so that a kill leaves the old one or the new one, never half of either.

    What is written through is always a new file: a link that waits under its name is not followed.

    Args:
        path: Of the file.
        content: Of the file; text is written as UTF-8.
        synced: Whether it is on the disk when this returns.

    Raises:
        OSError: It cannot be written; the old one is still there.
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
