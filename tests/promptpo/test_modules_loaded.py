"""What is not asked for is not imported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

MOST = 137
"""Modules of promptpo that a run without a model may load; lowering it is free."""

PROBE = """
import json, runpy, sys
sys.argv = ["promptpo", "optimize", "CartPole-v1", "--model", "search", "--max-steps", "3000", "--rounds", "1", "--jobs", "1", "--test-episodes", "2", "--out", sys.argv[1]]
try:
    runpy.run_module("promptpo", run_name="__main__")
except SystemExit as ended:
    assert not ended.code, ended.code
loaded = [name for name in sys.modules if name.split(".")[0] == "promptpo"]
print(json.dumps(loaded), file=sys.stderr)
"""


def test_a_plain_run_loads_what_it_needs(tmp_path: Path) -> None:
    """No world model, goal, teacher, film, experiment, prompt or sliced reward is made where nobody asks for one."""
    command = [sys.executable, "-c", PROBE, str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True, cwd=tmp_path)
    loaded = json.loads(done.stderr.splitlines()[-1])
    features = ("goal", "asked_for", "preferring", "teacher", "filming", "probing", "given")
    unwanted = {f"promptpo.search.{name}" for name in features} | {"promptpo.world", "promptpo.session.goals"}
    unwanted |= {f"promptpo.telling.{name}" for name in ("prompting", "sections", "summaries", "experiments")}
    unwanted |= {f"promptpo.spec.{name}" for name in ("describe", "reward", "slicing", "trial")}
    assert unwanted.isdisjoint(loaded)
    assert len(loaded) <= MOST
