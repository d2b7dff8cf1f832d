"""Commands end when their work is done, with a fitting exit code, and leave no process of an environment behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.promptpo.ending_environments import counts, running
from tests.waiting import wait_until

ROOT = Path(__file__).parents[3]
ENVIRONMENT = "tests.promptpo.ending_environments:Simulator"
SMALL = "--episodes 2 --validation-episodes 2 --test-episodes 2 --no-film --tune none --rounds 1 -n 1 --max-steps 900"
COMMANDS = {
    "optimize": f"optimize {ENVIRONMENT} --model search {SMALL} --out run",
    "evaluate": f"evaluate policy.py --env {ENVIRONMENT} --episodes 3",
    "baseline": f"baseline ppo {ENVIRONMENT} --steps 200 --validation-episodes 1 --test-episodes 1 --out run",
    "random": f"baseline random {ENVIRONMENT} --test-episodes 2 --out run",
}


def start_command(folder: Path, command: str, **habits: object) -> subprocess.Popen[str]:
    """Start a command in a folder, with the given habits of the environment."""
    (folder / "policy.py").write_text("class Policy:\n    def act(self, obs):\n        return 1\n")
    given = [f"--env-kwargs={_json({'log': str(folder / 'log'), **habits})}"]
    return subprocess.Popen(
        [sys.executable, "-m", "promptpo", *COMMANDS[command].split(), *given],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _json(value: object) -> str:
    import json

    return json.dumps(value)


def wait_for_end(process: subprocess.Popen[str], seconds: float = 300.0) -> tuple[int, str, str]:
    """Return exit code, standard output and standard error of a command."""
    try:
        out, err = process.communicate(timeout=seconds)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    return process.returncode, out, err


CASES = {
    "optimize": [("well", "thread"), ("raises", "deaf"), ("hangs", "none")],
    "evaluate": [("raises", "none"), ("hangs", "thread")],
    "random": [("raises", "thread"), ("hangs", "deaf")],
    "baseline": [("hangs", "deaf")],
}
"""For each command, how `close` behaves and which habit its process has."""
QUICK = [("random", "raises", "thread"), ("evaluate", "raises", "none")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "close", "habit"),
    [
        pytest.param(*case, marks=[] if case in QUICK else pytest.mark.slow)
        for case in ((command, *habits) for command, met in CASES.items() for habits in met)
    ],
)
def test_command_ends_although_the_environment_does_not(
    tmp_path: Path, command: str, close: str, habit: str
) -> None:
    """Exit code 0, at most one warning, both pipes closed, and no simulator left, not even one that `close` forgets."""
    process = start_command(tmp_path, command, close=close, habit=habit, forgets=close != "well")
    code, _, err = wait_for_end(process)
    assert code == 0, err
    assert "Traceback" not in err
    assert err.count("close of the environment") == (close != "well")
    assert not running(tmp_path / "log")
    if close == "well":
        assert len(set(counts(tmp_path / "log"))) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "step"),
    [
        *(
            ("optimize", "os._exit(0)"),
            ("optimize", "raises"),
            ("evaluate", "exit(0)"),
            ("evaluate", "killed"),
        ),
        *(("random", "os._exit(0)"), ("baseline", "os._exit(0)")),
    ],
)
def test_environment_that_exits_fails_the_command(tmp_path: Path, command: str, step: str) -> None:
    """The exit code is not zero, even after ``os._exit(0)``, and one sentence names the cause."""
    code, _, err = wait_for_end(start_command(tmp_path, command, step=step))
    assert code not in {0, None}
    assert "Traceback" not in err
    assert "promptpo: " in err.splitlines()[-1]
    if "os._exit" in step:
        assert "os._exit in code that it called (" in err.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "number", "code"),
    [
        *((command, signal.SIGKILL, -9) for command in ("optimize", "evaluate")),
        *(("baseline", signal.SIGINT, 130), ("optimize", signal.SIGTERM, 143)),
    ],
)
def test_signal_ends_command_and_simulators(
    tmp_path: Path, command: str, number: signal.Signals, code: int
) -> None:
    """The exit code is the shell's for that signal; environments are closed where the signal leaves time."""
    process = start_command(tmp_path, command, step="hangs" if command != "baseline" else "well")
    expected = 1 if command == "optimize" else 2  # `optimize` hangs while it observes the first one
    wait_until(lambda: counts(tmp_path / "log")[0] >= expected, process)
    time.sleep(0.5)
    process.send_signal(number)
    assert wait_for_end(process)[0] == code
    assert not running(tmp_path / "log")


SCRIPT = f"""
import promptpo
promptpo.evaluate("policy.py", "{ENVIRONMENT}", episodes=3, env_kwargs={{"log": "log", "step": "hangs", "habit": HABIT}})
"""


@pytest.mark.slow
@pytest.mark.parametrize("habit", ["none", "deaf"])
def test_killed_script_leaves_no_simulators(tmp_path: Path, habit: str) -> None:
    """SIGKILL leaves a script no time to clean up, and no command watches over it."""
    (tmp_path / "policy.py").write_text("class Policy:\n    def act(self, obs):\n        return 1\n")
    (tmp_path / "script.py").write_text(SCRIPT.replace("HABIT", repr(habit)))
    process = subprocess.Popen(
        [sys.executable, "script.py"], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    wait_until(lambda: counts(tmp_path / "log")[0] >= 2, process)
    time.sleep(0.3)
    process.kill()
    process.wait()
    assert not running(tmp_path / "log")
