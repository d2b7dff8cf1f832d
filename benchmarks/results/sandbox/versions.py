"""CPU time of episodes in two versions of the sandbox, side by side: ``python versions.py BEFORE AFTER > versions.json``.

Each argument is a folder with the package ``promptpo_sandbox``. One process for each version plays the same episodes in
turn; rows hold the medians, host and guest together. ``apart`` gives every episode a guest of its own, where the
version can.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from typing import Any

CASES = {
    "CartPole-v1": (
        500,
        "class Policy:\n    def act(self, obs):\n        return 1 if 0.02 * obs[0] + 0.05 * obs[1] + obs[2] + 0.5 * obs[3] > 0 else 0\n",
    ),
    "HalfCheetah-v5": (
        1000,
        (
            "import numpy as np\nclass Policy:\n    def __init__(self):\n        self.t = 0\n        self.gain = np.linspace(-0.1, 0.1, 102).reshape(6, 17)\n"
            "    def act(self, obs):\n        self.t += 1\n        return np.clip(0.5 * np.sin(0.35 * self.t + np.arange(6)) + self.gain @ obs, -1.0, 1.0)\n"
        ),
    ),
}
WAYS = ((32, False), (16, False), (1, False), (1, True))
"""Lanes, and whether each episode has a guest of its own."""

EPISODES = 32
REPEATS = 7


def play() -> None:
    """Play what is asked for on standard input, one case and way a line."""
    import inspect
    import time

    import gymnasium

    from promptpo_sandbox import Sandbox, Trial

    can = "apart" in inspect.signature(Sandbox.rollout).parameters
    envs = {name: [gymnasium.make(name, disable_env_checker=True) for _ in range(32)] for name in CASES}
    with Sandbox() as box:
        for line in sys.stdin:
            name, lanes, apart = json.loads(line)
            steps, source = CASES[name]
            trials = [Trial(seed, None, steps) for seed in range(EPISODES)]
            began, seconds = time.process_time(), None
            if can or not apart:
                found = box.rollout(source, envs[name][:lanes], trials, **({"apart": True} if apart else {}))
                seconds = (time.process_time() - began + found.guest_cpu_seconds) / found.steps
            print(json.dumps(seconds), flush=True)


def measure(before: str, after: str) -> list[dict[str, Any]]:
    """Compare the two versions, turn by turn."""
    versions = {
        name: subprocess.Popen(
            [sys.executable, __file__, "play"],
            env={"PYTHONPATH": folder, "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name, folder in (("before", before), ("after", after))
    }
    rows = []
    for name in CASES:
        for lanes, apart in WAYS:
            found: dict[str, list[float]] = {"before": [], "after": []}
            for _ in range(REPEATS):
                for version, process in versions.items():
                    assert process.stdin is not None  # noqa: S101
                    assert process.stdout is not None  # noqa: S101
                    print(json.dumps((name, lanes, apart)), file=process.stdin, flush=True)
                    seconds = json.loads(process.stdout.readline())
                    found[version] += [] if seconds is None else [1e6 * seconds]
            medians = {f"us_per_step_{v}": round(statistics.median(s), 2) for v, s in found.items() if s}
            rows.append({"env": name, "lanes": lanes, "apart": apart, "steps": CASES[name][0], **medians})
            print(rows[-1], file=sys.stderr)
    for process in versions.values():
        process.kill()
    return rows


if __name__ == "__main__":
    if sys.argv[1:] == ["play"]:
        play()
    else:
        print(json.dumps(measure(*sys.argv[1:]), indent=1))
