"""Pictures that prompts of a run show: files by their digests, beside the journal."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from promptpo.errors import RunError
from promptpo.llm.stills import Still

PICTURES = "pictures"
"""Their folder in a run's directory."""


def written(still: Still, folder: Path) -> Still:
    """The picture with its file on the disk, whole: when this returns, the journal may name it.

    Raises:
        RunError: The disk does not take it (full, or gone).
    """
    path = folder / f"{still.digest}.png"
    temporary = path.with_suffix(f".{os.getpid()}.part")
    try:
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            try:
                with temporary.open("wb") as file:
                    file.write(still.png)
                    file.flush()
                    os.fsync(file.fileno())
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)
    except OSError as error:
        raise RunError(
            f"cannot write to {folder}: {error.strerror}. Make room, then: promptpo resume {folder.parent}"
        ) from error
    return replace(still, path=str(path.absolute()))
