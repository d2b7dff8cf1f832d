"""Unusual environments: wrappers with arrays, several rewards or agents, ids registered by a call, ignored seeds."""

import ctypes
import subprocess
import sys
import time
import types
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from promptpo.cli.app import run
from promptpo.core.config import Config
from promptpo.crash_report import MAX_PRINTED_LINES
from promptpo.envs.building import make_env
from promptpo.envs.task import Task, Wrapping
from promptpo.errors import EnvironmentFaultError, UnknownEnvironmentError
from promptpo.run.episodes import with_episodes
from promptpo.spec import observe
from promptpo.spec.describe import describe

HERE = "tests.promptpo.envs.test_unusual"


class Base(gymnasium.Env[Any, Any]):
    """Five steps along a series."""

    observation_space = spaces.Box(-10, 10, (2,), dtype=np.float64)
    action_space: Any = spaces.Discrete(2)
    series = np.arange(12.0).reshape(6, 2)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.t = 0
        return self.series[0] / 10, {}

    def step(self, action: Any) -> Any:
        self.t += 1
        return self.series[self.t] / 10, self.reward(action), self.t == 5, False, {}

    def reward(self, action: Any) -> Any:
        return float(self.series[self.t, 0] * (1 if action else -1))


class Vector(Base):
    """Two rewards."""

    def reward(self, action: Any) -> Any:
        return np.array([1.0, -float(action)])


class MultiObjective(Vector):
    """The same, declared as mo-gymnasium does."""

    reward_space = spaces.Box(-1, 1, (2,))


class Two(Base):
    """Two agents."""

    action_space = spaces.Tuple([spaces.Discrete(2), spaces.Discrete(2)])

    def reward(self, action: Any) -> Any:
        return [0.0, 1.0]


class Weighted(gymnasium.RewardWrapper[Any, Any]):
    """Wants an array, as mo-gymnasium's does."""

    def __init__(self, env: Any, weight: Any) -> None:
        super().__init__(env)
        assert weight.shape == (2,)
        self.weight = weight

    def reward(self, reward: Any) -> float:
        return float(np.dot(reward, self.weight))


class Drawn(Base):
    """Draws what it is worth when it is built."""

    def __init__(self) -> None:
        self.worth = np.random.default_rng().normal()

    def reward(self, action: Any) -> Any:
        return self.worth


class Noisy(Base):
    """One start, and a reward that the seed decides."""

    def reward(self, action: Any) -> Any:
        return float(self.np_random.normal())


class Loud(Base):
    """Prints from C."""

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        library = ctypes.CDLL(None)
        library.puts(b"printed by C")
        library.fflush(None)
        return super().reset(seed=seed, options=options)


def test_lists_become_arrays_if_a_wrapper_requires_them() -> None:
    """JSON has no arrays, and the wrapper reads its weight's shape."""
    wrapping = Wrapping.parse(f'{HERE}:Weighted{{"weight": [1.0, 0.5]}}')
    env = make_env(Task(f"{HERE}:Vector", wrappers=(wrapping,)))
    env.reset(seed=0)
    assert env.step(1)[1] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("name", "way_out"),
    [
        ("Vector", r"np\.dot\(reward, \[1\.0, 1\.0\]\).*--wrapper \./FILE\.py:CLASS"),
        ("MultiObjective", r"--wrapper 'mo_gymnasium\.wrappers:LinearReward\{\"weight\": \[1\.0, 1\.0\]\}'"),
        ("Two", r"a policy is one agent; .*--wrapper"),
    ],
)
def test_several_rewards_or_agents_are_refused_with_a_fix(name: str, way_out: str) -> None:
    with pytest.raises(EnvironmentFaultError, match=way_out):
        describe(Task(f"{HERE}:{name}"))


def test_ids_registered_by_a_call_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some packages offer `register_envs` for this."""
    package: Any = types.ModuleType("registers_by_call")

    def register_envs() -> None:
        gymnasium.register("ByCall-v0", entry_point=f"{HERE}:Base")

    register_envs.__module__ = "registers_by_call.registration"
    package.register_envs = register_envs
    monkeypatch.setitem(sys.modules, "registers_by_call", package)
    assert isinstance(make_env(Task("registers_by_call:ByCall-v0")).unwrapped, Base)
    gymnasium.registry.pop("ByCall-v0")


@pytest.mark.slow
def test_output_of_c_libraries_stays_out_of_a_spec() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "promptpo", "spec", f"{HERE}:Loud"], capture_output=True, text=True, check=True
    )
    assert "printed by C" in done.stderr
    assert "printed by C" not in done.stdout.splitlines()
    assert "State" in done.stdout


def test_seed_without_effect_reduces_the_episodes() -> None:
    """All episodes of a policy are then the same; a reward that depends on the seed is a different case."""
    spec = describe(Task(f"{HERE}:Base"))
    assert spec.one_episode
    assert "--held-out-kwargs" in spec.warnings[0]
    config = with_episodes(Config(Task("X-v0")), 5, one_episode=spec.one_episode)
    assert (config.train_episodes, config.score_episodes, config.test_episodes) == (2, 2, 2)
    given = Config(Task("X-v0"), episodes=1, validation_episodes=3, test_episodes=50)
    assert with_episodes(given, 5, one_episode=True) == given
    noisy = describe(Task(f"{HERE}:Noisy"))
    assert not noisy.one_episode
    assert noisy.warnings == ()


def test_random_constructor_is_reported() -> None:
    """Workers would play different problems."""
    spec = describe(Task(f"{HERE}:Drawn"))
    assert "two instances" in spec.warnings[0]
    assert not spec.one_episode


class Talking(Base):
    """Prints when it is built, and at every step, as what it starts does."""

    def __init__(self) -> None:
        print("built")

    def step(self, action: Any) -> Any:
        print("stepped")
        print("warned", file=sys.stderr)
        subprocess.run(["echo", "started"], check=False)
        return super().step(action)


@pytest.mark.slow
def test_environment_output_is_shown_up_to_a_limit(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """One note says that there is more."""
    words = ["--model", "search", "--rounds", "1", "-n", "1", "--max-steps", "300", "--test-episodes", "1"]
    run(["optimize", f"{HERE}:Talking", *words, "--no-film", "--jobs", "2", "--out", str(tmp_path / "run")])
    captured = capfd.readouterr()
    assert "stepped" not in captured.out
    assert 1 <= captured.err.count("built") <= 3
    assert 1 <= captured.err.count("stepped") <= 2 * MAX_PRINTED_LINES
    assert captured.err.count("prints more") == 1
    assert captured.err.count("warned") <= 2 * MAX_PRINTED_LINES


class Missing(Base):
    """Loses its second number from the third step on."""

    def step(self, action: Any) -> Any:
        seen, *rest = super().step(action)
        return (np.array([seen[0], np.nan]) if self.t >= 3 else seen, *rest)


@pytest.mark.slow
def test_ignored_seed_and_nan_are_reported_in_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once at the start, and beside the result."""
    out = str(tmp_path / "run")
    assert run(["optimize", f"{HERE}:Missing", "--model", "search", "--rounds", "1", "--max-steps", "600",
                "--no-film", "--out", out]) == 0  # fmt: skip
    captured = capsys.readouterr()
    assert captured.err.count("its seed changes nothing") == 1
    assert captured.err.count("NaN in observations") == 1
    assert "at step 3 first" in captured.err
    assert "2 episodes" in captured.out
    assert "The environment's seed changes nothing" in captured.out
    assert "The environment&#39;s seed changes nothing" in (tmp_path / "run" / "report.html").read_text()


class Listed(Base):
    """Observations are lists, where arrays are declared."""

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        first, info = super().reset(seed=seed)
        return first.tolist(), info

    def step(self, action: Any) -> Any:
        following, *others = super().step(action)
        return (following.tolist(), *others)


class Leaving(Base):
    """Ends the process that steps it."""

    def step(self, action: Any) -> Any:
        sys.exit(3)


@pytest.mark.slow
def test_lists_are_observed_as_the_declared_arrays(tmp_path: Path) -> None:
    from promptpo.output.evaluating import evaluate

    policy = tmp_path / "policy.py"
    policy.write_text("class Policy:\n    def act(self, obs):\n        return int((2 * obs).sum() > 0.2)\n")
    one, two = (evaluate(policy, f"{HERE}:{name}", episodes=1).evaluation for name in ("Base", "Listed"))
    assert one.outcome == two.outcome == "ok"
    assert one.returns == two.returns
    words = ["--model", "search", "--rounds", "1", "-n", "1", "--max-steps", "300", "--test-episodes", "1"]
    arguments = [f"{HERE}:Listed", *words, "--no-film", "--jobs", "1", "--out", str(tmp_path / "run")]
    assert run(["optimize", *arguments]) == 0


def test_exit_of_the_users_code_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence for a script that parses its arguments on import, and for an environment that exits."""
    (tmp_path / "script.py").write_text(
        "import argparse\nargparse.ArgumentParser().parse_args()\nclass E: pass\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["promptpo", "spec", "--json"])
    for name in ("./script.py:E", f"{HERE}:Leaving"):
        assert run(["spec", name]) in {1, 2}
        assert "SystemExit" in capsys.readouterr().err


class Slow(Base):
    """Takes its time."""

    def step(self, action: Any) -> Any:
        time.sleep(0.01)
        return super().step(action)


@pytest.mark.slow
def test_a_slow_description_is_announced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A quick one is not."""
    monkeypatch.setattr(observe, "SLOW_SECONDS", 0.1)
    describe(Task(f"{HERE}:Slow"))
    assert "building Slow and sampling it" in capsys.readouterr().err.replace(f"{HERE}:", "")
    monkeypatch.setattr(observe, "SLOW_SECONDS", 30.0)
    describe(Task(f"{HERE}:Base"))
    assert "sampling" not in capsys.readouterr().err


def test_folder_that_shadows_the_module_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This happens one folder above the module."""
    (tmp_path / "harbour_of_test").mkdir()
    (tmp_path / "harbour_of_test" / "harbour_of_test.py").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UnknownEnvironmentError, match="cd harbour_of_test"):
        make_env(Task("harbour_of_test:Harbour"))
