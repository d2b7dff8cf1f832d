"""The self-check: each layer holds, holds alone and matters, for root and for an ordinary user."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from promptpo_sandbox import Layers, Sandbox, SandboxUnavailableError
from promptpo_sandbox.check import probe_layers

ROOT = Path(__file__).parents[2]


NOBODY = [
    *("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"),
    # the interpreter may be in root's home, which other users cannot enter
    *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
]


def check_as_nobody() -> dict[str, Any]:
    """Return the command's report when an ordinary user runs it."""
    done = subprocess.run(
        [*NOBODY, sys.executable, "-B", "-m", "promptpo_sandbox.check", "--json"],
        cwd=ROOT,
        env={"HOME": "/", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    assert (done.returncode == 0) == result["ok"]
    return result


def test_each_layer_holds_and_matters(open_directory: Path) -> None:
    """Every attack is stopped by all layers and by its own alone, and by nothing without them."""
    rows = probe_layers(open_directory)
    assert len({row.layer for row in rows}) >= 11
    assert [row for row in rows if not row.stopped] == []
    assert [row for row in rows if row.alone is False or row.matters is False] == []


@pytest.mark.slow
@pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("setpriv"), reason="only root can become somebody else"
)
def test_ordinary_user_has_the_same_protection() -> None:
    """No layer needs privileges."""
    result = check_as_nobody()
    assert result["root"] is False
    assert result["level"] == "strong"
    assert result["missing"] == []
    assert all(row["stopped"] for row in result["attacks"])


def test_missing_layer_is_refused_unless_accepted() -> None:
    layers = Layers(landlock=False)
    with (
        Sandbox(layers=layers) as box,
        pytest.raises(SandboxUnavailableError, match="landlock: switched off"),
    ):
        box.status  # noqa: B018 - starts it
    with Sandbox(layers=layers, allow_weaker=True) as box:
        assert box.status.level == "medium"
        assert box.status.missing == ("landlock: switched off",)
    with Sandbox(layers=Layers(landlock=False, seccomp=False), allow_weaker=True) as box:
        assert box.status.level == "weak"
