"""A policy's use of time, memory or its process affects only the outcome of its own episodes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from gymnasium import spaces

from promptpo_sandbox import (
    Layers,
    Limits,
    Rollout,
    Sandbox,
    SandboxBrokenError,
    SandboxUnavailableError,
    Trial,
)
from promptpo_sandbox.process import Zygote
from tests.promptpo.nursery import start_interpreter
from tests.sandbox.environments import EchoEnv, WalkEnv

BUSY = "class Policy:\n    def act(self, obs):\n        for i in range(%d):\n            pass\n        return [0.0, 0.0]\n"


LIMITS = Limits(step_seconds=0.1, construct_seconds=0.3, episode_seconds=0.6)


@pytest.fixture(scope="module")
def open_box() -> Iterator[Sandbox]:
    """A sandbox without its gate, with short limits of CPU time, which waiting for a processor does not use up."""
    with Sandbox(replace(LIMITS, wall_factor=1000.0), layers=Layers(gate=False)) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def waiting_box() -> Iterator[Sandbox]:
    """A sandbox without its gate, in which a policy that waits is soon ended."""
    with Sandbox(LIMITS, layers=Layers(gate=False)) as sandbox:
        yield sandbox


def echoes(n: int, length: int = 3) -> list[EchoEnv]:
    """Return environments with two actions."""
    return [EchoEnv(spaces.Box(-1, 1, (2,)), spaces.Discrete(2), length) for _ in range(n)]


def loops_per_second() -> float:
    """Measure loop iterations per second of CPU time, for steps of a known length."""
    began = time.process_time()
    for _ in range(3_000_000):
        pass
    return 3_000_000 / (time.process_time() - began)


@pytest.mark.slow
def test_busy_machine_does_not_time_out_a_fast_policy() -> None:
    """Deadlines count CPU time: 150 ms of work pass beside six busy processes, more than the limit does not."""
    loops = loops_per_second()
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(6)]
    try:
        with Sandbox(Limits(step_seconds=0.5, wall_factor=1000.0)) as box:
            passed = box.rollout(
                BUSY % int(0.15 * loops), [WalkEnv()], [Trial(0, None, 2), Trial(1, None, 2)]
            )
            assert passed.failure is None
            assert passed.policy_seconds > 0.1
            failure = box.rollout(BUSY % int(2 * loops), [WalkEnv()], [Trial(0, None, 2)]).failure
            assert failure is not None
            assert failure.kind == "timeout"
    finally:
        for process in busy:
            process.kill()
            process.wait()


BLOCKS = "import os\nclass Policy:\n    def act(self, obs):\n        os.read(0, 1)\n        return 0\n"


@pytest.mark.slow
def test_waiting_without_cpu_time_is_ended_by_wall_time(waiting_box: Sandbox) -> None:
    began = time.monotonic()
    failure = waiting_box.rollout(BLOCKS, echoes(1), [Trial(0)]).failure
    assert failure is not None
    assert failure.kind == "timeout"
    assert time.monotonic() - began < 15


ENDS_AFTER = """
import os, struct
class Policy:
    n = 0
    def act(self, obs):
        self.n += 1
        if self.n == 3:
            os.write(3, struct.pack('<BBHI', 33, 0, 1, 8) + struct.pack('<q', 1))
            %s
        return 1
"""


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["os._exit(0)", "while True: pass", "os.read(0, 1)"])
def test_guest_that_ends_after_its_last_answer(waiting_box: Sandbox, ending: str) -> None:
    """It has answered everything, so its episodes count or fail, and nothing else happens."""
    for lanes, trials in ((1, 1), (2, 1), (2, 3)):
        rollout = waiting_box.rollout(
            ENDS_AFTER % ending, echoes(lanes), [Trial(n) for n in range(trials)], stop_on_failure=False
        )
        assert len(rollout.episodes) == trials
        assert all(e.failure is not None or (e.return_, e.steps) == (3.0, 3) for e in rollout.episodes)


@pytest.mark.slow
def test_unread_pipe_is_an_outcome(open_box: Sandbox) -> None:
    """More parameters than fit into a pipe, for a policy that works on after its answer."""
    params = {f"p{n}": 0.0 for n in range(100_000)}
    source = (ENDS_AFTER % "while True: pass").replace(
        "n = 0", "n = 0\n    def __init__(self, params):\n        pass"
    )
    trials = [Trial(0, params), Trial(1, params), Trial(2, params)]
    rollout = open_box.rollout(source, echoes(1), trials, stop_on_failure=False)
    assert len(rollout.episodes) == 3
    assert {e.failure.kind for e in rollout.episodes if e.failure} <= {"timeout", "crashed"}
    assert any(e.failure for e in rollout.episodes)


def test_hanging_constructors_are_outcomes() -> None:
    """Each trial has an outcome of its own."""
    source = "class Policy:\n    def __init__(self):\n        while True:\n            pass\n    def act(self, obs):\n        return 0\n"
    with Sandbox(Limits(construct_seconds=0.05)) as box:
        rollout = box.rollout(source, echoes(3), [Trial(n) for n in range(5)], stop_on_failure=False)
    assert [e.failure.kind for e in rollout.episodes if e.failure] == ["timeout"] * 5


VOIDS = """
import os
class Policy:
    def __init__(self):
        self.n = 0
        self.gain = os.urandom(1)[0] / 255  # differs each time it is tried
    def act(self, obs):
        self.n += 1
        if self.n == %d:
            raise MemoryError
        return [self.gain, 0.0]
"""


class Tape(WalkEnv):
    """Records the actions of each episode."""

    def __init__(self, episodes: list[tuple[int | None, list[float]]]) -> None:
        super().__init__()
        self.episodes = episodes

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Begin another one."""
        self.episodes.append((seed, []))
        return super().reset(seed=seed)

    def step(self, action: Any) -> Any:
        """Step."""
        self.episodes[-1][1].append(float(action[0]))
        return super().step(action)


@pytest.mark.parametrize("failing", [2, 3])
def test_repeated_episode_keeps_its_actions(open_box: Sandbox, failing: int) -> None:
    """A policy cannot use a MemoryError to replay an episode differently."""
    tapes: list[list[tuple[int | None, list[float]]]] = [[] for _ in range(3)]
    rollout = open_box.rollout(
        VOIDS % failing, [Tape(tape) for tape in tapes], [Trial(n) for n in range(3)], stop_on_failure=False
    )
    assert [e.failure.kind for e in rollout.episodes if e.failure] == ["memory"] * 3
    by_seed: dict[int | None, list[list[float]]] = {}
    for tape in tapes:
        for seed, actions in tape:
            by_seed.setdefault(seed, []).append(actions)
    repeated = 0
    for attempts in by_seed.values():
        attempts.sort(key=len)
        for shorter, longer in pairwise(attempts):
            assert longer[: len(shorter)] == shorter
            repeated += bool(shorter)
    assert repeated


HEAVY = """
import os
class Policy:
    def __init__(self, params):
        self.n, self.bad = 0, params["bad"]
        self.gain = os.urandom(1)[0] / 255
    def act(self, obs):
        self.n += 1
        if self.bad and self.n == 3:
            %s
        return [self.gain, 0.1]
"""


@pytest.mark.parametrize("fault", ["raise MemoryError", "os._exit(3)", "while True: pass"])
def test_neighbours_of_a_fault_keep_their_actions(open_box: Sandbox, fault: str) -> None:
    """Episodes that are repeated because of another's fault stay the same, even for a random policy."""
    tapes: list[list[tuple[int | None, list[float]]]] = [[] for _ in range(3)]
    trials = [Trial(n, {"bad": float(n == 1)}) for n in range(3)]
    rollout = open_box.rollout(HEAVY % fault, [Tape(tape) for tape in tapes], trials, stop_on_failure=False)
    assert [e.failure is None for e in rollout.episodes] == [True, False, True]
    for seed in (0, 2):
        attempts = sorted((a for tape in tapes for s, a in tape if s == seed), key=len)
        assert len(attempts) > 1
        for shorter, longer in pairwise(attempts):
            assert longer[: len(shorter)] == shorter


def outcome(rollout: Rollout) -> list[Any]:
    """Return results and output, which must not depend on lanes."""
    return [
        rollout.output,
        [
            (e.seed, e.return_, e.steps, e.failure and (e.failure.kind, e.failure.step))
            for e in rollout.episodes
        ],
    ]


@pytest.mark.parametrize(
    "fault",
    ["raise MemoryError", "x = [0] * 10**12", "return 'left'", "return [9.0, 0.0]", "raise SystemExit"],
)
def test_equal_results_for_any_number_of_lanes(box: Sandbox, fault: str) -> None:
    """Failing episodes, their neighbours and their output are compared."""
    source = f"""
class Policy:
    def __init__(self, params):
        self.n, self.bad = 0, params["bad"]
    def act(self, obs):
        self.n += 1
        print(self.n)
        if self.bad and self.n == 3:
            {fault}
        return [0.1 * self.n % 1, 0.0]
"""
    trials = [Trial(n, {"bad": float(n in (1, 3))}) for n in range(5)]
    for stop in (True, False):
        rollouts = [
            outcome(box.rollout(source, [WalkEnv() for _ in range(lanes)], trials, stop_on_failure=stop))
            for lanes in (1, 2, 5)
        ]
        assert rollouts[0] == rollouts[1] == rollouts[2]


def test_layers_are_checked_for_every_guest() -> None:
    """A guest that lacks a layer of the first one is refused."""
    with Sandbox() as box:
        assert str(box.status.level) == "strong"
        box._note_status(["seccomp", "rlimits", "no_new_privileges", "landlock"], [])
        with pytest.raises(SandboxUnavailableError, match="landlock: gone"):
            box._note_status(["seccomp", "rlimits", "no_new_privileges"], ["landlock: gone"])
        assert box.status.level == "medium"


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root to take rights away")
def test_root_that_cannot_become_another_user_is_weaker() -> None:
    """The status says so, and it is refused unless accepted."""
    code = (
        "from promptpo_sandbox import Sandbox\nfor accepted in (True, False):\n    with Sandbox(allow_weaker=accepted) as box:\n"
        "        print(box.status.level, box.status.missing)"
    )
    less = ["setpriv", "--bounding-set=-setuid,-setgid", "--inh-caps=-setuid,-setgid"]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [*less, sys.executable, "-c", code], capture_output=True, text=True, check=False, env=env
    )
    assert done.stdout.startswith("medium"), done.stderr
    assert done.stdout.count("user: ") == 1
    assert "SandboxUnavailableError" in done.stderr
    assert "user: " in done.stderr


@pytest.mark.parametrize("fault", ["no interpreter", "interrupted"])
def test_failed_start_leaves_nothing_behind(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No temporary directory and no process remains."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("promptpo_sandbox.process._start_interpreter", start_interpreter)
    if fault == "no interpreter":
        monkeypatch.setattr(sys, "executable", "/nowhere/python")
        with pytest.raises(SandboxBrokenError, match="cannot be used"):
            Zygote(Limits(), Layers())
    else:

        def interrupt(*_: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(Zygote, "_greet", interrupt)
        with pytest.raises(KeyboardInterrupt):
            Zygote(Limits(), Layers())
    assert list(tmp_path.iterdir()) == []
