"""Whether a run was made here, and what going on with it would do.

A key that never leaves this machine signs each run's ``config.toml`` in a file beside it. A run without a valid
signature is somebody else's: it is looked at like any other, but nothing that it names is imported, started or
sent a key before the user says so.
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
"""Signatures of a run's ``config.toml``, one a line: the newest, and the one before it."""

SETTINGS = "config.json"
"""What decides the run of a baseline, which has no ``config.toml``."""

MAX_STRANGERS_FILE_BYTES = 1 << 25
"""Bytes of a journal or result that are read of a run that was not made here."""

MAX_STRANGERS_HORIZON_STEPS = 100_000
"""Steps of an episode that a run which was not made here may ask for without being trusted."""

KEY_BYTES = 32
EXPORTED = "policy"
"""What an exported file is signed as."""

SIGNED = "# signed on the machine that exported it: "
"""The last line of an exported file begins so."""


def key_path() -> Path:
    """Where this machine's key is: in ``$XDG_STATE_HOME``, by default ``~/.local/state``."""
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
    """Write what decides a run that the user makes or has taken over, and sign it.

    The signature comes first, beside that of the configuration that is there, so that a kill in between
    leaves a run that is known as the user's own.

    Args:
        settings: A configuration, or the text of those of a baseline.
        directory: The run.

    Returns:
        Whether it could be signed; where it could not, the run will be taken for somebody else's.

    Raises:
        OSError: The run's directory cannot be written.
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
    """An exported file of the user's own with this machine's signature; as it is where there is no key to sign with."""
    signature = _signature(EXPORTED, text.encode(), create=True)
    return f"{text}{SIGNED}{signature}\n" if signature else text


def is_signed_here(text: str) -> bool:
    """Whether a file was exported by this user on this machine, and nobody has changed it since."""
    body, _, signature = text.rpartition(SIGNED)
    expected = _signature(EXPORTED, body.encode())
    return bool(expected) and hmac.compare_digest(expected.encode(), signature.strip().encode())


def _signature(name: str, text: bytes, *, create: bool = False) -> str:
    """Of a file's text; empty where there is no key to sign with."""
    try:
        key = _key(create=create)
    except (OSError, RuntimeError):
        return ""
    return hmac.new(key, f"promptpo: {name} of a run made here\n".encode() + text, "sha256").hexdigest()


def _key(*, create: bool = False) -> bytes:
    """This machine's key.

    Raises:
        OSError: There is none, or it cannot be made.
    """
    path = key_path()
    if create and not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, mine = tempfile.mkstemp(prefix=".key.", dir=path.parent)  # nobody else may read it
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(secrets.token_bytes(KEY_BYTES))
            with contextlib.suppress(
                FileExistsError
            ):  # of several processes that begin at once, one makes it
                os.link(mine, path)
        finally:
            Path(mine).unlink()
    found = path.read_bytes()
    if len(found) != KEY_BYTES:  # what has another length is none
        raise FileNotFoundError(path)
    return found


def builds(task: Task) -> str:
    """Say what building the environment does."""
    modules = [clean_name(_shorten_module(module)) for module in task.modules]
    horizon = task.max_episode_steps or 0
    long = f" with episodes of {horizon:,} steps" if horizon > MAX_STRANGERS_HORIZON_STEPS else ""
    if not modules:
        return f"builds the environment {clean_name(task.name)}{long}"
    return f"imports the module {' and '.join(modules)} for the environment {clean_name(task.name)}{long}"


def digests(task: Task) -> dict[str, str]:
    """Digests of the files that building the environment has imported from where it lies, by path; unreadable ones are left out."""
    named = task.modules
    paths = [
        *(path for path in named if path.endswith(".py")),
        *(find_imported_files(named) if named else ()),
    ]
    return {path: digest for path in paths if (digest := _digest(path))}


def _digest(path: str) -> str:
    """Of a file; empty where it cannot be read."""
    with contextlib.suppress(OSError, ValueError):
        return hashlib.sha256(read_regular(Path(path), links=True)).hexdigest()
    return ""


def name_changed_files(files: Mapping[str, str]) -> str:
    """Which of an environment's files have changed, for people; empty where none has.

    Args:
        files: What they were, by path.
    """
    changed = (path for path, digest in files.items() if _digest(path) not in {digest, ""})
    return clean_name(" and ".join(map(_shorten_module, changed)))


def describe_changed_files(files: Mapping[str, str]) -> str:
    """Which of an environment's files have changed since its run began, in a sentence; empty where none has."""
    changed = name_changed_files(files)
    return changed and (
        f"since the run began {changed} has changed: what was measured before may not hold now."
    )


def asks(config: Config) -> str:
    """Say what asking a run's models does, writers and repairers alike; empty for program search."""
    names = [
        *(config.models or [config.model or (config.base_url and "the default model")]),
        config.repair_model,
    ]
    where = f" at {clean_name(config.base_url)} with your key, if one is set" if config.base_url else ""
    asked = (f"asks {clean_name(name)}{where}" for name in dict.fromkeys(names) if name and name != "search")
    return " and ".join(asked)


def trust_notice(config: Config) -> str:
    """Say what continuing a run does."""
    spec = f"shows {clean_name(config.spec_file)} to the model" if config.spec_file else ""
    features = (settings.trust_notice for settings in settings_of_features(config))
    return ", ".join(part for part in (builds(config.task), asks(config), spec, *features) if part)


def _shorten_module(module: str) -> str:
    """A module for people: a file in the working directory by its path from there."""
    here = Path.cwd()
    return str(Path(module).relative_to(here)) if Path(module).is_relative_to(here) else module


def is_builtin(task: Task) -> bool:
    """Whether an environment is one of Gymnasium's own, made without arguments or wrappers, so that anyone may name it.

    An episode of it must have an end within reach, too.
    """
    import gymnasium

    entry = gymnasium.registry.get(task.env_id)
    made_plainly = not (task.env_kwargs or task.wrappers or task.is_family)
    made_plainly &= (task.max_episode_steps or 0) <= MAX_STRANGERS_HORIZON_STEPS
    return entry is not None and made_plainly and str(entry.entry_point).startswith("gymnasium.envs.")


def place_for(run: Path, name: str, out: Path | None, *, own: bool) -> Path:
    """Where a file about a run is written: into the run, or where the user says.

    Nothing is written into a run that was not made here; its files come into the current directory.

    Args:
        run: Its directory.
        name: Of the file.
        out: What the user named.
        own: Whether the run was made here.

    Raises:
        UsageError: The place is in a stranger's run, or taken although nobody named it.
    """
    if own:
        return out or run / name
    path = out or Path(name)
    if path.resolve().is_relative_to(run.resolve()):
        raise UsageError(
            f"{run} was not made here, so nothing is written into it; name another place for it."
        )
    if out is None and (path.exists() or path.is_symlink()):
        raise UsageError(
            f"{run} was not made here, and there is a {name} here already; name another place for it."
        )
    return path


def check_size(directory: Path) -> None:
    """Refuse to read what would take long of a run that was not made here.

    Raises:
        RunError: A file of it is larger than that.
    """
    for path in (directory / "journal.jsonl", directory / "result.json"):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            size = path.stat().st_size
            if size > MAX_STRANGERS_FILE_BYTES and not is_made_here(directory):
                raise RunError(
                    f"{path} has {size >> 20} MB, more than the {MAX_STRANGERS_FILE_BYTES >> 20} MB that are read of a run that was not "
                    "made here; view it on the machine where it was made."
                )


def check_trust(directory: Path, does: str, again: Sequence[str]) -> None:
    """Refuse to execute what a run names that was not made here.

    Args:
        directory: The run.
        does: What executing it does, in words.
        again: The command that does it all the same.

    Raises:
        UsageError: It was not made here.
    """
    if not is_made_here(directory):
        raise UsageError(
            f"{directory} was not made here (it lacks this machine's signature), and this {does}. "
            f"If you trust it: {' '.join(again)}"
        )
