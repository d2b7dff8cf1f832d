"""Pictures that prompts of a run show: files by their digests, beside the journal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from promptpo.errors import RunError
from promptpo.files import make_folder, write_atomically
from promptpo.llm.stills import Still

PICTURES = "pictures"
"""Their folder in a run's directory."""


def written(still: Still, folder: Path) -> Still:
    """The picture with its file on the disk, whole: when this returns, the journal may name it.

    Raises:
        RunError: The disk does not take it (full, or gone).
    """
    path = folder / f"{still.digest}.png"
    try:
        if not path.exists():
            make_folder(folder)
            write_atomically(path, still.png, synced=True)
    except OSError as error:
        raise RunError(
            f"cannot write to {folder}: {error.strerror}. Make room, then: promptpo resume {folder.parent}"
        ) from error
    return replace(still, path=str(path.absolute()))
