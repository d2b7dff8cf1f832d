"""What an environment prints, by any means, stays out of a command's output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from promptpo.crash_report import MAX_PRINTED_LINES, PRINTS_MORE

ROOT = Path(__file__).parents[3]
NOISE = "n-o-i-s-e"
ENVIRONMENT = '''
"""A walk on a line that talks in six ways, wherever its code runs."""
import ctypes, os, subprocess, sys
import gymnasium, numpy

def talk():
    word = "-".join("noise")
    print(word)
    sys.stdout.write(word + "\\n")
    if sys.argv[1:2] == ["spec"]:  # where it is described
        print(word, file=sys.stderr)
    os.write(1, f"{word} \\x1b[2J raw \\n".encode() + b"\\xff\\n")
    libc = ctypes.CDLL(None)
    libc.puts(word.encode())
    libc.fflush(None)

talk()
subprocess.run(["echo", "-".join("noise")])

class Walk(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-9.0, 9.0, (1,))
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self):
        talk()

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        talk()
        self.x, self.t = self.np_random.uniform(-1, 1), 0
        return numpy.array([self.x], numpy.float32), {}

    def step(self, action):
        talk()
        self.t += 1
        self.x += 0.1 if action else -0.1
        return numpy.array([self.x], numpy.float32), -abs(self.x), False, self.t >= 20, {}

    def close(self):
        talk()
'''
SMALL = "--episodes 2 --validation-episodes 2 --test-episodes 2 --no-film --tune none --rounds 1 -n 1 --max-steps 900"
COMMANDS = {
    "spec --json": "spec walk.py:Walk --json",
    "random": "baseline random walk.py:Walk --test-episodes 2 --validation-episodes 2 --out run",
    "estimate": "optimize walk.py:Walk --model search --estimate",
    "optimize": f"optimize walk.py:Walk --model search {SMALL} --out run",
    "ppo": "baseline ppo walk.py:Walk --steps 200 --validation-episodes 1 --test-episodes 1 --out run",
    "evaluate --json": "evaluate policy.py --env walk.py:Walk --episodes 2 --json",
}
QUICK = ("spec --json", "random")
OUTPUTS = {name: ("file", "pipe")[i % 2] for i, name in enumerate(COMMANDS)}
"""Where each command's output goes: alternately to a file and to a pipe."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "to"),
    [pytest.param(*case, marks=[] if case[0] in QUICK else pytest.mark.slow) for case in OUTPUTS.items()],
)
def test_environment_prints_stay_out_of_the_output(tmp_path: Path, name: str, to: str) -> None:
    """The first lines go to standard error as text, followed by one note that there are more."""
    (tmp_path / "walk.py").write_text(ENVIRONMENT)
    (tmp_path / "policy.py").write_text("class Policy:\n    def act(self, obs):\n        return 1\n")
    with (tmp_path / "out").open("w") as file:
        done = subprocess.run(
            [sys.executable, "-m", "promptpo", *COMMANDS[name].split()],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=file if to == "file" else subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=300,
            check=False,
        )
    out = (done.stdout or (tmp_path / "out").read_bytes()).decode()
    err = done.stderr.decode()
    assert done.returncode == 0, err
    assert out
    assert NOISE not in out
    assert "\ufffd" not in out
    assert 1 <= err.count(NOISE) <= MAX_PRINTED_LINES
    assert err.count(PRINTS_MORE) == 1
    assert "\x1b[2J" not in err
    if "--json" in name:
        json.loads(out)


@pytest.mark.parametrize("way", ["exit", "abort"])
def test_last_output_before_an_environment_exits_is_shown(tmp_path: Path, way: str) -> None:
    """It usually says why the process ended."""
    end = {"exit": "os._exit(0)", "abort": "os.abort()"}[way]
    code = ENVIRONMENT.replace(
        "        talk()\n        self.t += 1\n", f"        os.write(1, b'no licence\\n')\n        {end}\n"
    )
    (tmp_path / "walk.py").write_text(code.replace("\ntalk()\n", "\n").replace("    talk()\n", "    pass\n"))
    done = subprocess.run(
        [sys.executable, "-m", "promptpo", *COMMANDS["random"].split()],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode != 0
    assert b"no licence" in done.stderr
    assert b"no licence" not in done.stdout
    assert b"promptpo: stopped by" in done.stderr
