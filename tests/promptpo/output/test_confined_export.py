"""Exported files that confine their policy: equal returns, and no attack succeeds."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import pytest

from promptpo.envs.task import RewardProgram, Task
from promptpo.output.exporting import (
    ABOVE,
    Provenance,
    export_text,
    parse_added_part,
    policy_part,
    reward_of,
    task_of,
)
from tests.promptpo.commands import run_file
from tests.sandbox.canaries import Canaries
from tests.waiting import wait_until

POLICY = '''"""Lean into the fall."""
import math

import numpy as np


class Policy:
    def act(self, obs):
        return int(obs[2] + 0.5 * math.sin(obs[3]) + 0.0 * np.linalg.norm(obs) > 0)
'''
ATTACKS = sorted(Path(__file__).parents[2].joinpath("sandbox/attacks").glob("*.py"))
KINDS = ("ctypes", "exit", "file", "import", "pickle", "process", "socket")
TRIED = [path for path in ATTACKS if path.stem.split("_")[0] in KINDS]
HANGING = {"exit_exception_str"}
"""Attacks that never return; the user has to interrupt the file, which ends the policy's process."""

FIRST = {path.stem.split("_")[0]: path for path in reversed(TRIED)}.values()


def export(
    task: Any = "CartPole-v1", policy: str = POLICY, *, confined: bool = True, space: Any = None
) -> str:
    """Return the text of an exported file."""
    task = Task(task) if isinstance(task, str) else task
    action_space = space or gymnasium.make(task.env_id).action_space
    return export_text(
        policy, Provenance(task, "m", "run", "r1c1"), action_space=action_space, confined=confined
    )


def play(text: str, directory: Path, *options: str) -> Any:
    """Run an exported file as a program, without promptpo."""
    path = directory / "policy.py"
    path.write_text(text)
    return run_file(path, *options, cwd=directory)


def with_policy(text: str, source: str) -> str:
    """Replace the policy in an exported file, as if the gate had let the new one pass."""
    own = policy_part(export()).split("annotations\n", 1)[1].strip()
    assert own in text
    return text.replace(own, source)


@pytest.fixture
def canaries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Canaries]:
    """Secrets that must not be touched."""
    canaries = Canaries(tmp_path_factory.mktemp("canaries"))
    yield canaries
    canaries.close()


@pytest.mark.parametrize("env_id", ["CartPole-v1", "Pendulum-v1", "Blackjack-v1"])
def test_confined_file_plays_like_the_open_file(env_id: str, tmp_path: Path) -> None:
    """The returns agree to the last printed digit."""
    policy = {
        "CartPole-v1": POLICY,
        "Pendulum-v1": "import numpy as np\n\n\nclass Policy:\n    def act(self, obs):\n        return -2 * obs[1:2] - obs[2:]\n",
        "Blackjack-v1": "class Policy:\n    def act(self, obs):\n        return int(obs[0] < 17)\n",
    }[env_id]
    confined = play(export(env_id, policy), tmp_path, "--episodes", "3")
    open_file = play(export(env_id, policy, confined=False), tmp_path, "--episodes", "3")
    assert confined.returncode == 0, confined.stderr
    assert confined.stdout == open_file.stdout != ""
    assert "confined by Linux" in confined.stderr.splitlines()[0]


NESTED = """import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, Text, Tuple


class Nested(gymnasium.Env):
    observation_space = Dict({"x": Box(-1, 1, (2,)), "word": Text(4)})
    action_space = Tuple((Discrete(3), Dict({"a": Box(-1, 1, (2,)), "b": MultiBinary(2)}), Text(3)))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return {"x": np.zeros(2, np.float32), "word": "ab"}, {}

    def step(self, action):
        assert self.action_space.contains(action), action
        return {"x": np.ones(2, np.float32), "word": "b"}, float(action[0] + action[1]["a"].sum()), False, True, {}
"""
NESTED_POLICY = """import numpy as np


class Policy:
    def act(self, obs):
        return (2, {"a": obs["x"] + np.float32(0.25), "b": np.array([1, 0], np.int8)}, obs["word"])
"""


def test_nested_actions_have_the_types_of_the_space(tmp_path: Path) -> None:
    (tmp_path / "nested.py").write_text(NESTED)
    task = Task(f"{tmp_path / 'nested.py'}:Nested")
    space = gymnasium.spaces.Tuple((gymnasium.spaces.Discrete(3), gymnasium.spaces.Text(3)))
    done = play(export(task, NESTED_POLICY, space=space), tmp_path, "--episodes", "1")
    assert "mean return of 1 episode: 2.5" in done.stdout, done.stderr


@pytest.mark.slow
def test_reward_program_is_confined(tmp_path: Path, canaries: Canaries) -> None:
    """Its returns equal those of the open file."""
    reward = "class Reward:\n    def step(self, obs, action, next_obs, env_reward, info):\n        return 2 * env_reward, {'part': 1.0}\n\n    def success(self):\n        return True\n"
    task = replace(Task("CartPole-v1"), reward=RewardProgram(reward, "x"))
    outputs = [
        play(export(task, confined=confined), tmp_path, "--episodes", "2").stdout
        for confined in (True, False)
    ]
    assert outputs[0] == outputs[1]
    assert "success in 2 of 2" in outputs[0]
    reads = f"return open({str(canaries.secret)!r}).read() and 2 * env_reward"
    hostile = play(export(task).replace("return 2 * env_reward", reads), tmp_path)
    assert hostile.returncode == 1
    assert "PermissionError" in hostile.stderr


def test_parts_of_a_confined_file_are_parsed() -> None:
    """The policy may contain the marker that separates them."""
    reward = RewardProgram(
        "class Reward:\n    def step(self, obs, action, next_obs, env_reward, info):\n        return 0.0\n",
        "x",
    )
    task = replace(Task("CartPole-v1"), reward=reward)
    for policy in (POLICY, f'"""{ABOVE}\n"""\nx = """\n{ABOVE}\n"""\n' + POLICY.split('"""\n')[1]):
        text, other = export(task, policy), export(task, policy, confined=False)
        assert ast.dump(ast.parse(policy_part(text)).body[-1]) == ast.dump(
            ast.parse(policy_part(other)).body[-1]
        )
        bodies = [
            [ast.dump(node) for node in ast.parse(policy_part(each)).body[1:]] for each in (text, other)
        ]
        assert bodies[0] == bodies[1]
        assert task_of(text) == Task("CartPole-v1")
        assert reward_of(text, "policy.py") is not None
        assert "confine" in parse_added_part(text).names
        assert "def confine" not in policy_part(text)


CALLS = """import ctypes
import os
import sys


def attempts():
    libc = ctypes.CDLL(None, use_errno=True)
    yield "open", lambda: os.open(@SECRET@, os.O_RDONLY)
    yield "create", lambda: os.open(@SECRET@ + "2", os.O_CREAT | os.O_WRONLY)
    yield "list", lambda: os.listdir("/")
    yield "remove", lambda: os.unlink(@SECRET@)
    yield "fork", os.fork
    yield "exec", lambda: os.execv("/bin/true", ["true"])
    yield "spawn", lambda: os.posix_spawn("/bin/true", ["true"], {})
    yield "kill", lambda: os.kill(os.getppid(), 9)
    yield "pipe", os.pipe
    for family, kind in ((2, 1), (2, 2), (1, 1), (16, 3)):
        yield f"socket {family} {kind}", lambda: libc.socket(family, kind, 0)
    for name in ("ptrace", "memfd_create", "io_uring_setup", "unshare", "setns", "clone"):
        yield name, lambda: getattr(libc, name)(0, 0, 0, 0) if hasattr(libc, name) else -1
    yield "machine code", lambda: -1 if libc.mmap(None, 4096, 7, 0x22, -1, 0) == -1 else 0
    yield "read of another descriptor", lambda: os.read(3, 1)


def reached():
    for name, attempt in attempts():
        try:
            if attempt() not in (-1, 0xFFFFFFFF):
                yield name
        except OSError:
            pass


class Policy:
    def act(self, obs):
        raise RuntimeError(f"reached {list(reached())}, environment {dict(os.environ)}")
"""


def test_system_calls_are_refused(tmp_path: Path, canaries: Canaries) -> None:
    done = play(with_policy(export(), CALLS.replace("@SECRET@", repr(str(canaries.secret)))), tmp_path)
    assert "reached [], environment {}" in done.stderr, done.stderr
    open_file = with_policy(
        export(confined=False), CALLS.replace("@SECRET@", repr("/none")).replace("os.fork\n", "int\n")
    )
    open_file = open_file.replace('yield "exec"', 'return\n    yield ""')
    assert "'list'" in play(open_file, tmp_path).stderr  # proves that the attempts work unconfined


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[] if path in FIRST else pytest.mark.slow, id=path.stem) for path in TRIED],
)
def test_sandbox_attacks_fail(path: Path, tmp_path: Path, canaries: Canaries) -> None:
    """The sandbox's own attacks are played in an exported file."""
    text = with_policy(export(), canaries.arm(path.read_text()))
    if path.stem in HANGING:
        (tmp_path / "policy.py").write_text(text)
        with pytest.raises(subprocess.TimeoutExpired):
            subprocess.run(
                [sys.executable, tmp_path / "policy.py"], capture_output=True, timeout=5, check=False
            )
        wait_until(lambda: str(tmp_path) not in running_commands())
        output = ""
    else:
        done = play(text, tmp_path, "--episodes", "1")
        output = done.stdout + done.stderr
        assert "Traceback" not in output
        assert done.returncode in (0, 1)
    assert canaries.harm([output], "", []) == []


def running_commands() -> str:
    """Return the command lines of all processes."""
    return subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout


def test_nothing_is_played_without_confinement(tmp_path: Path) -> None:
    """The error names the missing layer, and no line of the policy has run."""
    marked = POLICY + "\nraise RuntimeError('it has run')\n"
    text = with_policy(export(), marked)
    for line in ("restrict(libc, machine.landlock)", "install(libc, machine)"):
        done = play(text.replace(line, "raise OSError('no such layer')"), tmp_path)
        assert done.returncode == 1
        assert "Nothing was played" in done.stderr
        assert "no such layer" in done.stderr
        assert "it has run" not in done.stderr + done.stdout
    assert "it has run" in play(text, tmp_path).stderr


def test_importing_a_confined_file_does_not_confine_the_process(tmp_path: Path) -> None:
    (tmp_path / "confined_policy.py").write_text(export())
    code = (
        "import confined_policy, numpy, os; print(confined_policy.predict(numpy.ones(4))[0]); os.listdir('/')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.stdout == "1\n", done.stderr


NAMES = """class Reward:
    def step(self, obs, action, next_obs, env_reward, info):
        return 1.0, {chr(27) + "]0;taken" + chr(7) + chr(10) + "mean return 999": 1.0}
"""
PRINTS = """class Policy:
    def act(self, obs):
        print(chr(27) + "[2J")
        if obs[0] > 9:
            return 1
        raise ValueError(chr(27) + "[1;1H")
"""


@pytest.mark.parametrize("confined", [True, False])
def test_control_characters_are_escaped(confined: bool, tmp_path: Path) -> None:
    """Names of reward parts, errors and the policy's output may contain them."""
    task = replace(Task("CartPole-v1"), reward=RewardProgram(NAMES, "x"))
    named = play(export(task, confined=confined), tmp_path, "--episodes", "1")
    assert named.stdout.count("\n") == 3, named.stderr
    assert "\\x1b]0;taken" in named.stdout
    failed = play(export(policy=PRINTS, confined=confined), tmp_path, "--episodes", "1")
    assert "\\x1b[1;1H" in failed.stderr
    shown = named.stdout + named.stderr + failed.stdout + failed.stderr
    assert not set(shown) & {"\x1b", "\x07", "\r"}


@pytest.mark.parametrize(
    "forged",
    [
        "5", '{"value": NaN}', '{"value": {"a": 1}}', '{"value": 7}',
        '{"value": ' + "[" * 100_000, '{"missing": "\\u001b[2J"}',
    ],
)  # fmt: skip
def test_malformed_replies_of_the_guest_are_an_error(forged: str, tmp_path: Path) -> None:
    """They must not be mistaken for a machine that cannot confine."""
    reply = '{"value": null}\n' if '"value"' in forged else ""
    source = f"import os\n\nos.write(3, {(reply + forged)!r}.encode() + b'\\n')\n{POLICY.partition('import math')[2]}"
    done = play(with_policy(export(), source), tmp_path, "--episodes", "1")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 2, done.stderr
    assert "Nothing was played" not in done.stderr
    assert "\x1b" not in done.stderr


READS_STACK = """import ctypes

at = ctypes.c_void_p.in_dll(ctypes.CDLL(None), "program_invocation_name").value
found = b""
while not found.endswith((b"SECRET=abc", b"BYTECODE=1")):
    found += ctypes.string_at(at + len(found), 1)


class Policy:
    def act(self, obs):
        raise ValueError(found[-10:])
"""


def test_environment_variables_are_not_in_the_guests_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loader leaves their strings on the stack."""
    monkeypatch.setenv("SECRET", "abc")
    done = play(with_policy(export(), READS_STACK), tmp_path, "--episodes", "1")
    assert "BYTECODE=1" in done.stderr, done.stderr
