"""The example programs are short and run without a key."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.docs.snippets import ROOT
from tests.docs.test_snippets import environment

PROGRAMS = {"my_room": "held-out return", "against_ppo": "PPO", "goal_in_words": "partly, because"}


def test_examples_are_short() -> None:
    for path in (ROOT / "examples").glob("*.py"):
        assert len(path.read_text().splitlines()) <= 60, path


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", PROGRAMS)
def test_example_runs(name: Any, tmp_path: Path) -> None:
    """It runs in an empty folder, with fewer steps."""
    if name == "against_ppo":
        pytest.importorskip("stable_baselines3")
        pytest.importorskip("matplotlib")
    program = (ROOT / "examples" / f"{name}.py").read_text()
    (tmp_path / f"{name}.py").write_text(re.sub(r"\b\d+_000\b", "2_500", program))
    done = subprocess.run(
        [sys.executable, f"{name}.py"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert PROGRAMS[name] in done.stdout
    assert (tmp_path / "against_ppo.png").exists() == (name == "against_ppo")
