"""Unused features are not imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import promptpo

MAX_MODULES, MAX_CALLED_FILES = 150, 123
"""Limits on modules that a run without a model loads and on files whose functions it calls; lower them freely. Ten
modules are settings of features and their folders."""

MAX_LOOP_MODULES = 41
"""Modules of promptpo that the loop imports."""

UNWANTED = [
    "features.experiments.feature",
    "features.goals.reward",
    "features.simulator.feature",
    "features.teacher.feature",
    "prompts.conversation",
    "session.user_inputs",
    "session.formalising",
    "session.goals",
    "spec.describe",
    "spec.formalised",
    "spec.own_source",
    "spec.reach",
    "spec.rewarded",
    "prompts.program_summary",
    "prompts.prompting",
    "prompts.sections",
    "output.simulated",
    "demo",
    "cli.demo_command",
]
"""Modules of features that such a run does not use."""

PROBE = """
import atexit, inspect, json, os, runpy, sys, threading
ran, threads = set(), []
class Looks:
    def find_spec(name, *_):
        if name == "numpy":
            threads.append(os.environ.get("OPENBLAS_NUM_THREADS"))
sys.meta_path.insert(0, Looks)
def note(frame, event, argument):
    if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        ran.add(frame.f_code.co_filename)
threading.setprofile(note)
sys.setprofile(note)
sys.argv = ["promptpo", "optimize", "CartPole-v1", "--model", "search", "--max-steps", "600", "--max-episode-steps", "20", "--rounds", "1", "--jobs", "1", "--test-episodes", "2", "--out", sys.argv[1]]
def tell():
    sys.setprofile(None)
    loaded = {name: module.__file__ for name, module in sys.modules.items() if name.split(".")[0] == "promptpo"}
    foreign = [*{"cma", "matplotlib", "scipy"} & {*sys.modules}]
    print(json.dumps([[*loaded], [*ran & {*loaded.values()}], foreign, threads]), file=sys.stderr)
atexit.register(tell)
runpy.run_module("promptpo", run_name="__main__")
"""


def test_plain_run_loads_only_what_it_uses(tmp_path: Path) -> None:
    """Nor does tuning load plotting or statistics packages.

    Linear algebra of small matrices uses one thread, since several would wait for each other.

    """
    root = Path(promptpo.__file__).parent
    assert [name for name in UNWANTED if not [*root.glob(name.replace(".", "/") + "*")]] == []
    command = [sys.executable, "-c", PROBE, str(tmp_path / "run")]
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=True, cwd=tmp_path, env=environment
    )
    loaded, called, foreign, threads = json.loads(done.stderr.splitlines()[-1])
    assert not {f"promptpo.{name}" for name in UNWANTED} & {*loaded}
    assert len(loaded) <= MAX_MODULES
    assert len(called) <= MAX_CALLED_FILES
    assert foreign == ["cma"]
    assert threads == ["1"]


def test_loop_imports_few_modules() -> None:
    """Its code must be small enough to be read as a whole."""
    code = "import sys, promptpo.core.loop; print(sum(name.startswith('promptpo.') for name in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert int(done.stdout) <= MAX_LOOP_MODULES
