"""What is not asked for is not imported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

MOST, MOST_FILES = 130, 110
"""Modules of promptpo that a run without a model may load, and files whose functions it may call; lowering them is free."""

PROBE = """
import inspect, json, runpy, sys, threading
ran = set()
def note(frame, event, argument):
    if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        ran.add(frame.f_code.co_filename)
threading.setprofile(note)
sys.setprofile(note)
sys.argv = ["promptpo", "optimize", "CartPole-v1", "--model", "search", "--max-steps", "3000", "--rounds", "1", "--jobs", "1", "--test-episodes", "2", "--out", sys.argv[1]]
try:
    runpy.run_module("promptpo", run_name="__main__")
except SystemExit as ended:
    assert not ended.code, ended.code
sys.setprofile(None)
loaded = {name: module.__file__ for name, module in sys.modules.items() if name.split(".")[0] == "promptpo"}
print(json.dumps([[*loaded], [*ran & {*loaded.values()}]]), file=sys.stderr)
"""


def test_a_plain_run_loads_what_it_needs(tmp_path: Path) -> None:
    """No simulator, goal, teacher, film, experiment, prompt or sliced reward is made where nobody asks for one."""
    command = [sys.executable, "-c", PROBE, str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True, cwd=tmp_path)
    loaded, called = json.loads(done.stderr.splitlines()[-1])
    features = ("goal", "asked_for", "preferring", "teacher", "filming", "probing", "given")
    unwanted = {f"promptpo.search.{name}" for name in features} | {
        "promptpo.features.simulator.feature",
        "promptpo.session.goals",
    }
    unwanted |= {f"promptpo.telling.{name}" for name in ("prompting", "sections", "summaries", "experiments")}
    unwanted |= {f"promptpo.spec.{name}" for name in ("describe", "reward", "slicing", "trial")}
    assert unwanted.isdisjoint(loaded)
    assert len(loaded) <= MOST
    assert len(called) <= MOST_FILES
