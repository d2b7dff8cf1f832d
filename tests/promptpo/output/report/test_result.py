"""Writing files so that a full disk or a kill leaves no halves."""

import json
from pathlib import Path

import pytest

from promptpo.output.report import write_atomically, write_result


def test_the_old_file_stays_when_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old content is there, the error comes through, and no temporary file is left."""
    path = tmp_path / "result.json"
    write_atomically(path, "old")

    def full(_self: Path, _target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_result_is_json(tmp_path: Path) -> None:
    """It ends with a newline and reads back."""
    write_result(tmp_path, {"a": [1, None]})
    assert json.loads((tmp_path / "result.json").read_text()) == {"a": [1, None]}
