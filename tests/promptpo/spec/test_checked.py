"""Nothing that a spec says of reward, end, horizon and hidden variables is contradicted by real steps.

The environments have the structure of packages that were met in the wild, in other words: a step that hands on to
another method, a reward kept in an attribute, a component that computes it, a truncation of one's own, a reward that
is transformed after `super().step`, and scaled copies of the state.
"""

import re
import warnings
from functools import cache
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from promptpo.cli.app import run
from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.spec.describe import describe, describe_env
from promptpo.spec.prose import told
from promptpo.spec.reward import with_values
from promptpo.spec.values import columns, tie
from tests.promptpo.envs.test_building import needs

HERE = "tests.promptpo.spec.test_checked"


class Kiln(gymnasium.Env[Any, Any]):
    """A kiln whose step hands on to another method, and which truncates by itself."""

    observation_space = spaces.Box(-np.inf, np.inf, (2,))
    action_space = spaces.Box(-1.0, 1.0, (1,))
    wanted = 3.0

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.heat, self.clay, self.t = (
            float(self.np_random.uniform(0, 6)),
            float(self.np_random.uniform(1, 2)),
            0,
        )
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        return self._STEP(action)

    def _STEP(self, action: Any) -> Any:  # noqa: N802 - as a package has it
        gain = 0.25 * float(action[0]) + 0.01 * float(self.np_random.random())
        self.heat = self.heat + gain
        self.t += 1
        reward = -abs(self.heat - self.wanted) - 0.1 * float(action[0]) ** 2
        return self._seen(), reward, self.heat > 7.5, self.t >= 70, {}

    def _seen(self) -> Any:
        return np.array([(self.heat - 3.0) / 4.0, self.clay], np.float32)


class Crane(Kiln):
    """A crane."""

    def _STEP(self, action: Any) -> Any:  # noqa: N802 - as a package has it
        self.reward = -0.1
        self.heat += 0.2 * float(action[0])
        self._weigh(action)
        self.t += 1
        return self._seen(), self.reward, False, self.t >= 70, {}

    def _weigh(self, action: Any) -> None:
        if self.heat > 1.0:
            self.reward += 2.5 - 0.1 * self.heat


class MillJudge:
    """Computes the reward of a mill."""

    def __init__(self) -> None:
        self.weight = 0.5

    def points(self, heat: float, action: Any) -> float:
        return self.weight * heat - float(np.abs(action).sum())


class Mill(Kiln):
    """A mill with a component."""

    def __init__(self) -> None:
        self.judge = MillJudge()

    def _STEP(self, action: Any) -> Any:  # noqa: N802 - as a package has it
        self.heat += 0.2 * float(action[0])
        self.t += 1
        return self._seen(), self.judge.points(self.heat, action), False, self.t >= 70, {}


class Loom(Mill):
    """A loom upon a mill."""

    def step(self, action: Any) -> Any:
        seen, reward, ended, cut, info = super().step(action)
        return seen, reward / 10 + 1.0, ended, cut, info


class Lottery(Kiln):
    """All is luck."""

    def _STEP(self, action: Any) -> Any:  # noqa: N802 - as a package has it
        self.t += 1
        self.heat += 0.1
        return self._seen(), float(self.np_random.random()), False, self.t >= 70, {}


class Pond(Kiln):
    """A pond that overflows long before its season ends; what was spilled counts."""

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        self.spilled, self.scale = 0.0, 2.0
        return super().reset(seed=seed, options=options)

    def _STEP(self, action: Any) -> Any:  # noqa: N802 - as a package has it
        self.heat += 0.5
        self.t += 1
        if self.heat > 90:
            self.spilled += 1.0
        reward = self.heat / self.scale - self.spilled
        return self._seen(), reward, self.heat > 7.5, self.t + 1 > 300, {}


class Restless(Kiln):
    """A reward that counts how often it was asked for: running it once more would change it."""

    asked = 0

    def _STEP(self, action: Any) -> Any:  # noqa: N802 - as a package has it
        self.heat += 0.2 * float(action[0])
        self.t += 1
        return self._seen(), self._points(), False, self.t >= 70, {}

    def _points(self) -> float:
        """What it earns."""
        self.asked = self.asked + 1
        return float(self.asked % 3)


class Stove(Kiln):
    """A stove that earns by what was before the step, and ends by what is after it."""

    def _STEP(self, action: Any) -> Any:  # noqa: N802 - as a package has it
        reward = -abs(self.heat - self.wanted)
        self.heat += 0.2 * float(action[0])
        self.t += 1
        return self._seen(), reward, self.heat > 7.5, self.t >= 70, {}


class Brook(Kiln):
    """A brook, whose flow and reward come from one function that changes nothing by itself."""

    def _STEP(self, action: Any) -> Any:  # noqa: N802 - as a package has it
        heat, reward = self._flow(self.heat, action)
        self.heat = heat
        self.t += 1
        return self._seen(), reward, False, self.t >= 70, {}

    def _flow(self, heat: float, action: Any) -> tuple[float, float]:
        heat = heat + 0.3 * float(action[0])
        return heat, -abs(heat - self.wanted)


@cache
def spec_of(name: str) -> Any:
    """The spec of an environment of this file."""
    return describe(Task(f"{HERE}:{name}"))


@pytest.mark.parametrize("name", ["Kiln", "Crane", "Mill", "Loom", "Lottery", "Restless"])
def test_a_horizon_is_what_episodes_showed(name: str) -> None:
    """An environment that truncates by itself has a limit of its own, whoever's step says so."""
    spec = spec_of(name)
    assert (spec.horizon, spec.horizon_source) == (70, "observed")
    assert '"max_steps": 70' in spec.text


@pytest.mark.parametrize("name", ["Kiln", "Mill"])
def test_a_reward_is_shown_only_if_it_gives_what_was_earned(name: str) -> None:
    """What is shown ran beside the steps, and gave each of their rewards."""
    env = make_env(Task(f"{HERE}:{name}"))
    spec, observed = describe_env(env, Task(f"{HERE}:{name}"))
    assert observed.trial is not None
    passed = observed.trial.passed("reward")
    assert passed is not None
    assert len(passed.told) >= len(observed.steps)
    assert spec.sources["reward"] == "source"
    assert "np_random" not in spec.text
    assert "0.25" not in spec.text
    assert "0.2 *" not in spec.text  # how the heat changes


def test_a_function_that_moves_and_earns_at_once_is_withheld() -> None:
    """Its reward cannot be shown without the motion, though asking it once more would change nothing."""
    text = spec_of("Brook").text
    assert "_flow" not in text
    assert "How it is computed is not known." in text


@pytest.mark.parametrize("name", ["Crane", "Loom", "Lottery"])
def test_what_is_not_known_is_said_to_be(name: str) -> None:
    """A reward that cannot be told from what moves the environment is not shown; its range is."""
    text = spec_of(name).text
    assert "How it is computed is not known." in text
    assert re.search(r"steps of random actions\s+in \d+ episodes\s+one\s+step\s+gave", text)


def test_code_that_disturbs_its_environment_is_not_shown() -> None:
    """Asking once more for a reward would change the next one: the code is left out, or runs without doing so."""
    env = make_env(Task(f"{HERE}:Restless"))
    _, observed = describe_env(env, Task(f"{HERE}:Restless"))
    assert [step.reward for step in observed.steps[:4]] == [1.0, 2.0, 0.0, 1.0] or not observed.repeats


def test_an_end_that_was_never_seen_is_shown_as_the_code_has_it() -> None:
    """Where no episode tells how long one may become."""
    spec = spec_of("Pond")
    assert (spec.horizon, spec.horizon_source) == (300, "environment")


def test_what_may_still_change_is_not_called_constant() -> None:
    """A number that only resets set, always alike, is told; of one that a step may set it is told that it was seen so."""
    text = spec_of("Pond").text
    assert "# env.scale: 2." in text
    assert "# env.spilled: 0.0 in all steps seen." in text


def test_a_scaled_copy_is_not_called_hidden() -> None:
    """The heat stands in the observation, shifted and scaled."""
    text = spec_of("Kiln").text
    assert "# env.heat: 4 * next_obs[0] + 3." in text
    assert "Not found in the observation" not in text


def test_numbers_that_hardly_change_are_compared_without_a_warning() -> None:
    """A line through them is found, or none is."""
    nearly, line = np.array([5.0, 5.0, 5.0 + 1e-15, 5.0]), np.array([0.0, 1.0, 2.0, 4.0])
    with warnings.catch_warnings(action="error"):
        assert tie(list(line), [("obs", nearly[:, None], False)]) == ("", True)
        assert tie(list(2 * line + 1), [("obs", line[:, None], False)]) == ("2 * obs[0] + 1", False)


def test_a_variable_is_told_as_it_is_where_it_is_read() -> None:
    """Before the step by the one function, after it by the other."""
    text = spec_of("Stove").text
    assert "# env.heat: 4 * obs[0] + 3." in text
    assert "# env.heat in terminated: 4 * next_obs[0] + 3." in text


def test_prose_has_the_values_of_this_instance_and_no_others() -> None:
    """Behind it, instead of defaults that may not hold; what has no value here stays as it is."""

    class Owner:
        def __init__(self) -> None:
            self._low_range = (0.2, 1.0)

    text = told("It ends below low_range (default is [0.5, 2.0]) or above top_range.", 500)
    assert with_values(text, Owner()).splitlines() == [
        "It ends below low_range or above top_range.",
        "low_range = (0.2, 1.0)",
    ]


@needs("mujoco")
def test_constants_are_those_of_the_instance() -> None:
    """A weight given as a keyword argument is told beside the code."""
    text = describe(Task("HalfCheetah-v5", {"ctrl_cost_weight": 0.25})).text
    assert "env._ctrl_cost_weight * np.sum(np.square(action))" in text
    assert "# env._ctrl_cost_weight: 0.25." in text


def test_branches_that_cannot_run_are_left_out() -> None:
    """A switch that is off takes its branch along."""
    text = describe(Task("Acrobot-v1")).text
    assert "nips" not in text


@needs("Box2D")
def test_flags_that_change_are_not_taken_for_constants() -> None:
    """``game_over`` is False at first; the penalty that hangs on it stays."""
    text = describe(Task("LunarLander-v3")).text
    assert "if env.game_over or abs(state[0]) >= 1.0:" in text
    assert "reward = -100" in text


def test_the_command_says_what_was_checked(capsys: pytest.CaptureFixture[str]) -> None:
    """``--check`` without a file: each part of the generated spec, and how it was held against steps."""
    assert run(["spec", "Pendulum-v1", "--check", "--reveal", "named"]) == 0
    told = capsys.readouterr().out
    assert "reward: its lines ran beside" in told
    assert "max_steps: 200, from: time limit" in told


def test_the_source_is_shown_where_it_is_asked_for() -> None:
    """As it stands, dynamics and all, and only then."""
    shown, withheld = (describe(Task("Pendulum-v1"), reveal=one).text for one in ("source", "named"))
    assert "newthdot = thdot + (3 * g / (2 * l) * np.sin(th)" in shown
    assert "th, thdot = self.state  # th := theta" in shown  # comments too
    assert "def render(" not in shown
    assert "newthdot" not in withheld


def test_a_constant_with_rounding_is_no_scaled_observation() -> None:
    """What differs in its last digit only is not computed from what a policy sees."""
    rng = np.random.default_rng(0)
    seen = rng.normal(size=50)
    sides = columns(spaces.Box(-9, 9, (1,)), list(seen.reshape(-1, 1)), "obs")
    assert tie([0.133289 + 1.5e-15 * one for one in seen], sides).path == ""
    assert tie([0.5 + 2 * one for one in seen], sides).path == "2 * obs[0] + 0.5"


class Overflowing(gymnasium.Env[Any, Any]):
    """Says that its level is at most 1, and lets it be 5; a deadline is set by its first step."""

    observation_space = spaces.Box(0.0, 1.0, (2,))
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.deadline: Any = None
        self.t = 0
        return np.array([0.5, float(self.np_random.uniform())], np.float32), {}

    def step(self, action: Any) -> Any:
        self.t += 1
        late = self.deadline is not None and self.t > self.deadline
        self.deadline = 90
        return np.array([5.0, 0.5], np.float32), float(action), False, late, {}


def test_a_range_that_observations_break_is_that_which_was_seen() -> None:
    """What the space declares is told of numbers that keep to it."""
    env = Overflowing()
    spec, _ = describe_env(env, Task("Overflowing-v0"))
    assert "obs[0]  # 0 .. 1, but left; seen 0.5 .. 5" in spec.text
    assert "obs[1]  # 0 .. 1; seen" in spec.text
    assert any("leave the bounds" in warning for warning in spec.warnings)
