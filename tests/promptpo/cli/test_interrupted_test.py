"""Ctrl-C during slow test episodes of the best policy or of the references."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.promptpo.cli.test_command_line import QUICK, environment, promptpo
from tests.promptpo.commands import Command
from tests.waiting import wait_until

SLOW = '''
import time
from pathlib import Path
import gymnasium
import numpy as np


class Slow(gymnasium.Env):
    """Steps of test episodes take long from the `slow_from`-th of these on."""

    observation_space = gymnasium.spaces.Box(-1, 1, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, slow_from=0):
        self.slow_from = slow_from

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t, self.wait = 0, 0.0
        if (seed or 0) >= 20_000_000:
            with Path("tests").open("a") as file:
                file.write("x")
            if Path("tests").stat().st_size > self.slow_from:
                self.wait = 2
                Path("slow").touch()
        return np.zeros(2, np.float32), {}

    def step(self, action):
        time.sleep(self.wait)
        self.t += 1
        return self.np_random.random(2).astype(np.float32), float(action), self.t >= 60, False, {}
'''


def interrupt_when_slow(folder: Path, slow_from: int) -> tuple[Any, str]:
    """Interrupt a run once its test episodes, of two minutes each, become slow; return its result and output."""
    (folder / "slow_env.py").write_text(SLOW)
    command = ["optimize", "slow_env.py:Slow", "--env-kwargs", json.dumps({"slow_from": slow_from})]
    words = [*command, "--out", "run", "--model", "search", *QUICK]
    process = Command(words, cwd=folder, environment=environment())
    wait_until((folder / "slow").exists, process)
    early_result = json.loads((folder / "run" / "result.json").read_text()) if slow_from else None
    process.send_signal(signal.SIGINT)
    code, out, errors = process.communicate(timeout=300)
    assert code == 130, errors
    result = json.loads((folder / "run" / "result.json").read_text())
    if early_result is not None:
        assert early_result["test"] == result["test"]
    return result, out


@pytest.mark.slow
def test_ctrl_c_ends_a_slow_test(tmp_path: Path) -> None:
    """The best so far is written within seconds and reported as untested."""
    result, out = interrupt_when_slow(tmp_path, 0)
    assert (tmp_path / "run" / "best.py").exists()
    assert result["best"]["candidate"] in {"r1c1", "always-1"}
    assert result["test"] is None
    assert result["stop_reason"].startswith("interrupted by Ctrl-C after the search was over")
    assert "was not tested" in out
    assert "not tested" in promptpo("show", "run", cwd=tmp_path).stdout


@pytest.mark.slow
def test_ctrl_c_ends_slow_references(tmp_path: Path) -> None:
    """The result is on disk as soon as the best is tested; one Ctrl-C skips the references."""
    result, out = interrupt_when_slow(tmp_path, 5)
    assert result["test"]["episodes"] == 5
    assert result["references"] == {}
    assert "were not played on the test seeds" in out


def test_ctrl_c_while_the_model_answers(tmp_path: Path) -> None:
    """The first Ctrl-C prints how long it waits and how to leave; the second leaves and prints how to resume."""
    model = "exec:sh -c 'mktemp asked.XXXX; sleep 600'"
    command = ["optimize", "CartPole-v1", "--model", model, "--out", "a run", *QUICK]
    process = Command(
        [*command, "--candidates", "2", "--rounds", "2"], cwd=tmp_path, environment=environment()
    )
    wait_until(lambda: len(list(tmp_path.glob("asked.*"))) == 2, process)
    process.send_signal(signal.SIGINT)
    stopping = next(line for line in process.stderr if line.startswith("stopping"))
    assert "waiting up to 10 s for 2 answers" in stopping
    assert ": promptpo resume 'a run'" in stopping
    process.send_signal(signal.SIGINT)
    code, _, errors = process.communicate(300)
    assert code == 130
    assert "stopped; continue with: promptpo resume 'a run'" in errors
    assert "Traceback" not in errors
