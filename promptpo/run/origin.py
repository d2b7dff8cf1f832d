"""Origin of a run: whether it was made on this machine, and what continuing it would execute.

A key that never leaves this machine signs each run's ``config.toml`` in a file next to it. A run without a valid
signature is a stranger's: it can be read like any other, but nothing that it names is imported, started or sent a key
before the user agrees.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from promptpo.core.feature import settings_of_features
from promptpo.envs.importing import find_imported_files
from promptpo.errors import RunError, UsageError
from promptpo.files import read_regular, write_atomically
from promptpo.run.config_file import CONFIG, config_text
from promptpo_sandbox.text import clean_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from promptpo.core.config import Config
    from promptpo.envs.task import Task

ORIGIN = "origin"
"""File with signatures of a run's ``config.toml``, one per line: the newest, and the previous one."""

SETTINGS = "config.json"
"""Settings of a baseline's run, which has no ``config.toml``."""

MAX_STRANGERS_FILE_BYTES = 1 << 25
"""Size limit on the journal or result of a run not made here."""

MAX_STRANGERS_HORIZON_STEPS = 100_000
"""Limit on episode length in a run not made here, unless it is trusted."""

KEY_BYTES = 32
EXPORTED = "policy"
"""Name under which exported files are signed."""

SIGNED = "# signed on the machine that exported it: "
"""Beginning of the last line of an exported file."""


def key_path() -> Path:
    """Return the path of this machine's key, in ``$XDG_STATE_HOME``, by default ``~/.local/state``."""
    state = os.environ.get("XDG_STATE_HOME", "")
    base = Path(state) if Path(state).is_absolute() else Path.home() / ".local" / "state"
    return base / "promptpo" / "key"


def is_made_here(directory: Path) -> bool:
    """Whether a run's configuration was written by this user on this machine."""
    name = CONFIG if (directory / CONFIG).exists() else SETTINGS
    try:
        expected = _signature(name, read_regular(directory / name)).encode()
        signatures = read_regular(directory / ORIGIN).split()
    except OSError:
        return False
    return any(hmac.compare_digest(expected, signature) for signature in signatures)


def save_own(settings: Config | str, directory: Path) -> bool:
    """Write and sign the settings of a run that the user made or has taken over.

    The signature is written first, next to that of the present settings, so that a kill in between leaves a run that is
    known as the user's own.

    Args:
        settings: A configuration, or the text of a baseline's settings.
        directory: The run directory.

    Returns:
        Whether the settings could be signed; if not, the run will count as a stranger's.

    Raises:
        OSError: The run directory cannot be written.
    """
    name, text = (SETTINGS, settings) if isinstance(settings, str) else (CONFIG, config_text(settings))
    before = read_regular(directory / ORIGIN).decode().split()[:1] if is_made_here(directory) else []
    signature = _signature(name, text.encode(), create=True)
    if signature:
        write_atomically(
            directory / ORIGIN, "".join(f"{line}\n" for line in dict.fromkeys([signature, *before]))
        )
    write_atomically(directory / name, text)
    return bool(signature)


def sign(text: str) -> str:
    """Return an exported file with this machine's signature, or unchanged if there is no key."""
    signature = _signature(EXPORTED, text.encode(), create=True)
    return f"{text}{SIGNED}{signature}\n" if signature else text


def is_signed_here(text: str) -> bool:
    """Whether a file was exported by this user on this machine and not changed since."""
    body, _, signature = text.rpartition(SIGNED)
    expected = _signature(EXPORTED, body.encode())
    return bool(expected) and hmac.compare_digest(expected.encode(), signature.strip().encode())


def _signature(name: str, text: bytes, *, create: bool = False) -> str:
    """Return the signature of a file's content; empty without a key."""
    try:
        key = _key(create=create)
    except (OSError, RuntimeError):
        return ""
    return hmac.new(key, f"promptpo: {name} of a run made here\n".encode() + text, "sha256").hexdigest()


def _key(*, create: bool = False) -> bytes:
    """Return this machine's key.

    Raises:
        OSError: There is no key, or it cannot be created.
    """
    path = key_path()
    if create and not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, mine = tempfile.mkstemp(prefix=".key.", dir=path.parent)  # readable by this user only
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(secrets.token_bytes(KEY_BYTES))
            with contextlib.suppress(
                FileExistsError
            ):  # of several processes starting at once, one creates it
                os.link(mine, path)
        finally:
            Path(mine).unlink()
    found = path.read_bytes()
    if len(found) != KEY_BYTES:  # not a key
        raise FileNotFoundError(path)
    return found


def builds(task: Task) -> str:
    """Describe what building the environment executes."""
    modules = [clean_name(_shorten_module(module)) for module in task.modules]
    horizon = task.max_episode_steps or 0
    long = f" with episodes of {horizon:,} steps" if horizon > MAX_STRANGERS_HORIZON_STEPS else ""
    if not modules:
        return f"builds the environment {clean_name(task.name)}{long}"
    return f"imports the module {' and '.join(modules)} for the environment {clean_name(task.name)}{long}"


def digests(task: Task) -> dict[str, str]:
    """Return digests of files imported to build the environment, by path; unreadable files are left out."""
    named = task.modules
    paths = [
        *(path for path in named if path.endswith(".py")),
        *(find_imported_files(named) if named else ()),
    ]
    return {path: digest for path in paths if (digest := _digest(path))}


def _digest(path: str) -> str:
    """Return the digest of a file; empty if it cannot be read."""
    with contextlib.suppress(OSError, ValueError):
        return hashlib.sha256(read_regular(Path(path), links=True)).hexdigest()
    return ""


def name_changed_files(files: Mapping[str, str]) -> str:
    """Name the environment's files that have changed, for people; empty if there are none.

    Args:
        files: Digests when the run began, by path.
    """
    changed = (path for path, digest in files.items() if _digest(path) not in {digest, ""})
    return clean_name(" and ".join(map(_shorten_module, changed)))


def describe_changed_files(files: Mapping[str, str]) -> str:
    """Describe which of an environment's files have changed since its run began; empty if none has."""
    changed = name_changed_files(files)
    return changed and (f"{changed} changed after the run began; earlier results may no longer hold.")


def asks(config: Config) -> str:
    """Describe what requests to a run's models do, including repairs; empty for program search."""
    names = [
        *(config.models or [config.model or (config.base_url and "the default model")]),
        config.repair_model,
    ]
    where = f" at {clean_name(config.base_url)} with your key, if one is set" if config.base_url else ""
    asked = " and ".join(clean_name(name) for name in dict.fromkeys(names) if name and name != "search")
    return asked and f"asks {asked}{where}"


def trust_notice(config: Config) -> str:
    """Describe what continuing a run executes."""
    spec = f"shows {clean_name(config.spec_file)} to the model" if config.spec_file else ""
    features = (settings.trust_notice for settings in settings_of_features(config))
    return ", ".join(part for part in (builds(config.task), asks(config), spec, *features) if part)


def _shorten_module(module: str) -> str:
    """Return a module's name for people: a file in the working directory by its relative path."""
    here = Path.cwd()
    return str(Path(module).relative_to(here)) if Path(module).is_relative_to(here) else module


def is_builtin(task: Task) -> bool:
    """Whether an environment is one of Gymnasium's own without arguments or wrappers, which is safe to build.

    Its episodes must be bounded, too.
    """
    import gymnasium

    entry = gymnasium.registry.get(task.env_id)
    made_plainly = not (task.env_kwargs or task.wrappers or task.is_family)
    made_plainly &= (task.max_episode_steps or 0) <= MAX_STRANGERS_HORIZON_STEPS
    return entry is not None and made_plainly and str(entry.entry_point).startswith("gymnasium.envs.")


def place_for(run: Path, name: str, out: Path | None, *, own: bool) -> Path:
    """Return where to write a file about a run: in the run, or where the user says.

    Nothing is written into a run that was not made here; its files go to the current directory.

    Args:
        run: The run directory.
        name: Name of the file.
        out: Path from the user.
        own: Whether the run was made here.

    Raises:
        UsageError: The path is inside a stranger's run, or exists although the user did not name it.
    """
    if own:
        return out or run / name
    path = out or Path(name)
    if path.resolve().is_relative_to(run.resolve()):
        raise UsageError(f"{run} was not made here, so nothing is written into it; choose another path.")
    if out is None and (path.exists() or path.is_symlink()):
        raise UsageError(f"{run} was not made here, and {name} already exists here; choose another path.")
    return path


def check_size(directory: Path) -> None:
    """Refuse to read large files of a run that was not made here.

    Raises:
        RunError: A file is too large.
    """
    for path in (directory / "journal.jsonl", directory / "result.json"):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            size = path.stat().st_size
            if size > MAX_STRANGERS_FILE_BYTES and not is_made_here(directory):
                raise RunError(
                    f"{path} has {size >> 20} MB; of a run that was not made here, only files of up to {MAX_STRANGERS_FILE_BYTES >> 20} MB are read. "
                    "View it on the machine where it was made."
                )


def check_trust(directory: Path, does: str, again: Sequence[str]) -> None:
    """Refuse to execute what a run names if it was not made here.

    Args:
        directory: The run directory.
        does: What would be executed, in words.
        again: Command that executes it anyway.

    Raises:
        UsageError: The run was not made here.
    """
    if not is_made_here(directory):
        raise UsageError(
            f"{directory} was not made here (it lacks this machine's signature), and this {does}. "
            f"If you trust it: {' '.join(again)}"
        )
