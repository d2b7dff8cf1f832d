"""The exported file: plain Python with numpy, equal to the evaluated policy, usable from stable-baselines3."""

import ast
import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptpo.envs.task import RewardProgram, Task
from promptpo.output.exporting import (
    MARKER,
    Provenance,
    export_text,
    policy_part,
    reward_of,
    task_of,
)
from promptpo.program import Program
from promptpo.program.reward_program import reward_program
from tests.promptpo.commands import run_file

SCORE = {"mean_return": 1.0, "ci95": (0.0, 2.0), "episodes": 3}

BARE = """class Policy:
    def act(self, obs):
        return 1 if obs[2] + 0.5 * obs[3] > 0 else 0
"""

TUNED = '''"""Swing up by energy, then hold.

The gain was tuned."""
import numpy as np

PARAMS = {"gain": (5.0, 0.0, 9.0)}


class Policy:
    def __init__(self, params):
        self.gain = params["gain"]
        self.steps = 0

    def act(self, obs):
        self.steps += 1
        return np.array([self.gain * obs[2] + 0.001 * self.steps])
'''


def provenance(env_id: Any, **more: Any) -> Any:
    """Return header facts."""
    return Provenance(Task(env_id), "test-model", "run", "r1c1", more)


def write(tmp_path: Path, source: Any, env_id: Any) -> Any:
    """Write the exported file for an environment."""
    env = gymnasium.make(env_id)
    path = tmp_path / "policy.py"
    path.write_text(export_text(source, provenance(env_id), action_space=env.action_space))
    return path


@pytest.mark.parametrize(("source", "env_id"), [(BARE, "CartPole-v1"), (TUNED, "Pendulum-v1")])
def test_exported_file_runs_without_promptpo(tmp_path: Path, source: Any, env_id: str) -> None:
    path = write(tmp_path, source, env_id)
    done = run_file(path, "--episodes", "2", "--seed", "3")
    assert done.returncode == 0, done.stderr
    assert "mean return of 2 episodes" in done.stdout


def load(path: Any) -> Any:
    """Import an exported file."""
    spec = importlib.util.spec_from_file_location("exported_policy", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_predict_keeps_state_between_single_observations(tmp_path: Path) -> None:
    """Without a state, a new episode starts."""
    module = load(write(tmp_path, TUNED, "Pendulum-v1"))
    obs = np.array([1.0, 0.0, 0.0], dtype=np.float32)
    first, state = module.predict(obs)
    second, _ = module.predict(obs, state)
    fresh, _ = module.predict(obs)
    assert first.shape == (1,)
    assert second[0] > first[0]
    assert fresh[0] == first[0]


def test_predict_clips_actions(tmp_path: Path) -> None:
    """The evaluation clips them, too."""
    module = load(write(tmp_path, TUNED, "Pendulum-v1"))
    action, _ = module.predict(np.array([1.0, 0.0, 8.0], dtype=np.float32))
    assert action[0] == 2.0
    assert action.dtype == np.float32


def test_predict_handles_batches(tmp_path: Path) -> None:
    """Each environment has its own policy, renewed at the start of an episode."""
    module = load(write(tmp_path, TUNED, "Pendulum-v1"))
    batch = np.zeros((3, 3), dtype=np.float32)
    _, state = module.predict(batch, None, np.array([True, True, True]))
    actions, state = module.predict(batch, state, np.array([False, True, False]))
    assert actions.shape == (3, 1)
    assert actions[1, 0] < actions[0, 0]


RESETS = """class Policy:
    def reset(self):
        self.action = 1

    def act(self, obs):
        self.action = 1 - self.action
        return self.action
"""


def test_reset_is_called_as_in_the_sandbox(tmp_path: Path) -> None:
    """Some policies initialise themselves in `reset`."""
    from promptpo_sandbox import Sandbox, Trial

    module = load(write(tmp_path, RESETS, "CartPole-v1"))
    assert module.predict(np.zeros(4, dtype=np.float32))[0] == 0
    with Sandbox() as box:
        rollout = box.rollout(RESETS, [gymnasium.make("CartPole-v1")], [Trial(0), Trial(1)])
    assert rollout.failure is None


def test_policy_part_excludes_the_added_code(tmp_path: Path) -> None:
    text = write(tmp_path, BARE, "CartPole-v1").read_text()
    assert MARKER in text
    assert "predict" not in policy_part(text)
    assert "class Policy" in policy_part(text)


def test_docstring_with_quotes_and_backslashes_is_escaped(tmp_path: Path) -> None:
    source = "r'''A \"\"\"quoted\"\"\" \\\\d+ strategy'''\n" + BARE
    path = write(tmp_path, source, "CartPole-v1")
    compile(path.read_text(), "policy.py", "exec")


def test_header_states_the_result_and_its_origin() -> None:
    text = export_text(
        BARE,
        provenance(
            "CartPole-v1",
            test={"mean_return": 487.2, "ci95": (470.0, 500.0), "episodes": 100},
        ),
        action_space=None,
    )
    header = text.split('"""')[1]
    for fact in (
        "CartPole-v1",
        "test-model",
        "487.2",
        "470 to 500",
        "100 episodes",
        "20000000",
        "r1c1",
        "run",
    ):
        assert fact in header


def test_env_kwargs_are_exported(tmp_path: Path) -> None:
    task = Task("FrozenLake-v1", {"is_slippery": False})
    facts = Provenance(task, "m", "run", "c")
    text = export_text("class Policy:\n    def act(self, obs):\n        return 2\n", facts, action_space=None)
    assert json.dumps({"is_slippery": False}) in text


OWN_NAMES = '''"""d"""; import math
_ = len("ab")


def predict(x):  # its own
    return main(x) * int(math.cos(0.0))


def main(x):
    return as_action + x


as_action, new_policy, one_of_batch, sum = 0, None, None, 7


class Policy:
    def act(self, obs):
        predicted = predict(int(obs[2] + 0.5 * obs[3] > 0))
        return predicted if sum == 7 else None
'''


def test_policys_names_are_kept_on_conflict(tmp_path: Path) -> None:
    """The exporter renames its own functions; an import beside the docstring stays."""
    path = write(tmp_path, OWN_NAMES, "CartPole-v1")
    text = path.read_text()
    assert "import math" in text
    assert "def predict_(x):  # its own" in text
    done = run_file(path, "--episodes", "2")
    assert done.returncode == 0, done.stderr
    assert "mean return of 2 episodes: 500" in done.stdout
    module = load(path)
    assert module.predict(np.array([0.0, 0.0, 1.0, 0.0]))[0] == 1


ODD = st.text(max_size=12) | st.lists(
    st.sampled_from(['"""', "'''", '"', "'", "\\", "\n", "\r", "\x00", "\u2028", "{{", "%}", "#", MARKER, "\ud800", "x"]),
    max_size=6,
).map("".join)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=25 if settings.get_current_profile_name() == "steady" else 1000, deadline=None)
@given(st.data())
def test_header_values_are_data(data: Any) -> None:
    """No name of a model, environment, run or file can change the program."""
    odd = [data.draw(ODD) for _ in range(9)]
    odd[0] = odd[0].replace(":", ";")  # "module:Class" is built in another way
    facts = Provenance(
        Task(odd[0], {odd[1]: odd[2]}),
        odd[3],
        odd[4],
        odd[5],
        {"test": {**SCORE, "failed_episodes": 1, "failure": odd[7]}, "verdict": odd[6]},
    )
    docstring = odd[8].encode("utf-8", "replace").decode()
    source = f"{docstring!r}\n{BARE}"
    text = export_text(source, facts, action_space=None, filename=odd[8])
    text.encode()
    compile(text, "policy.py", "exec")  # compiled only, never run
    tree = ast.parse(text)
    plain = ast.parse(export_text(BARE, provenance("E"), action_space=None))
    assert [type(node) for node in tree.body] == [type(node) for node in plain.body]
    assert ast.dump(ast.parse(policy_part(text)).body[-1]) == ast.dump(ast.parse(BARE).body[0])
    assert task_of(text) == facts.task


@pytest.mark.parametrize(
    "model",
    ["exec:/home/me/secret/claude --key k", "exec:'/home/me/a \\\\ b", "exec:", "replay:/home/me/run"],
)
def test_header_has_no_local_paths(model: str) -> None:
    """A command is reduced to its program, a replayed run to its name."""
    text = export_text(BARE, Provenance(Task("E"), model, "r", "c"), action_space=None)
    compile(text, "policy.py", "exec")
    assert "/home/me" not in text
    assert "--key" not in text


def test_header_states_author_and_confinement() -> None:
    """The gate is not a sandbox; `play` and `evaluate` confine."""
    header = " ".join(
        ast.get_docstring(ast.parse(export_text(BARE, provenance("E"), action_space=None))).split()
    )
    assert "written by test-model." in header
    assert "static gate" in header
    assert "To play it confined: promptpo play" in header


@pytest.mark.parametrize(
    "author", ["program search (no language model)", "its user, tuned (given to the run at its start)"]
)
def test_header_names_authors_other_than_models(author: str) -> None:
    text = export_text(BARE, Provenance(Task("E"), author, "r", "c"), action_space=None)
    assert f"written by {author}." in text
    assert "a language model" not in text


def test_marker_inside_a_policy_is_ignored(tmp_path: Path) -> None:
    source = f'x = """\n{MARKER}\n"""\n{BARE}'
    text = write(tmp_path, source, "CartPole-v1").read_text()
    assert ast.dump(ast.parse(policy_part(text)).body[2]) == ast.dump(ast.parse(source).body[0])
    assert task_of(text) == Task("CartPole-v1")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (('PARAMS = {"a": 2.0, "b": (1, 0, 3), "c": "no"}\nclass Policy:\n'
         "    def __init__(self, params):\n        self.n = params\n    def act(self, obs):\n        return self.n\n"),
         {"a": 2.0, "b": 1.0}),
        (("class Base:\n    def __init__(self, params):\n        self.n = params\nclass Policy(Base):\n"
         "    def act(self, obs):\n        return self.n\n"), {}),
        (('PARAMS = {"a": (2, 0, 3)}\nif True:\n    class Policy:\n        def __init__(self, *p):\n            self.n = p[0]\n'
         "        def act(self, obs):\n            return self.n\n"), {"a": 2}),
        (("class Base:\n    def reset(self):\n        self.n = 3\nclass Policy(Base):\n"
         "    def act(self, obs):\n        return self.n\n"), 3),
    ],
)  # fmt: skip
def test_policies_are_constructed_as_in_the_sandbox(tmp_path: Path, source: str, expected: Any) -> None:
    """PARAMS may have bare numbers, constructors may be inherited and classes defined conditionally."""
    path = tmp_path / "policy.py"
    path.write_text(export_text(source, provenance("E"), action_space=None))
    assert load(path).predict(np.zeros(1))[0] == expected


REWARD = """import math


class Reward:
    def step(self, obs, action, next_obs, env_reward, info):
        return env_reward, {"part": math.pi}
"""


@pytest.mark.slow
@given(st.text(max_size=60), st.sampled_from(["", "'''", "\\", MARKER, "\r", "\t", "\u2028"]))
def test_reward_program_round_trips(odd: str, special: str) -> None:
    """Special text in it must not affect the policy's part."""
    source = REWARD + f"\nODD = {odd + special!r}\n# {special if special != chr(13) else ''}\n"
    task = replace(Task("CartPole-v1"), reward=RewardProgram(source, "x"))
    facts = replace(provenance("CartPole-v1"), task=task)
    text = export_text(BARE, facts, action_space=gymnasium.spaces.Discrete(2))
    ast.parse(text)
    assert policy_part(text).rstrip().endswith(BARE.rstrip())
    assert task_of(text) == Task("CartPole-v1")
    namespace: dict[str, Any] = {}
    reward = (
        Program.from_source(text).constant("REWARD").replace("from __future__ import annotations\n", "", 1)
    )
    assert reward.strip() == source.strip()
    exec(Program.from_source(text).constant("REWARD"), namespace)  # noqa: S102 - of this test
    assert namespace["ODD"] == odd + special


def test_reward_program_and_policy_do_not_share_names(tmp_path: Path) -> None:
    """Both define `helper`, and the policy a constant REWARD."""
    policy = "REWARD = 1\n\ndef helper():\n    return REWARD\n\n" + BARE.replace(
        "return 1 if", "return helper() if"
    )
    program = "def helper():\n    return 0.5\n\n\n" + REWARD.replace(
        "env_reward, {", "helper() + env_reward, {"
    )
    task = replace(Task("CartPole-v1"), reward=reward_program(program))
    facts = replace(provenance("CartPole-v1"), task=task)
    path = tmp_path / "policy.py"
    path.write_text(export_text(policy, facts, action_space=gymnasium.spaces.Discrete(2)))
    done = run_file(path, "--episodes", "1")
    own = float(done.stdout.split("by the environment: ")[1])
    assert f"by the reward program: {1.5 * own:.6g}" in done.stdout, done.stderr
    assert reward_of(path.read_text(), "policy.py").digest == task.reward.digest
