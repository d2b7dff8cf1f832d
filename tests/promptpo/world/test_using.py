"""Using a world model: fitting its numbers, planning in it, and a run that searches in one."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import promptpo
from promptpo.cli.show import overview
from promptpo.llm.scripted import ScriptedLLM
from promptpo.world import dreaming, fitting, modelling
from promptpo.world.fitting import fitted
from promptpo.world.planners import planning_policy
from promptpo_sandbox import Predictions, Recorded, Replay, Sandbox, Trial, check_source
from tests.promptpo.optimizing import Model, attempts_of, optimize, read_run
from tests.promptpo.policies import TUNABLE

CART = """
import math

import numpy as np

PARAMS = {"force": (7.0, 1.0, 20.0), "gravity": (9.8, 5.0, 15.0)}


class World:
    def __init__(self, params, obs, rng):
        self.p = params
        self.sync(obs)

    def sync(self, obs):
        self.x, self.v, self.angle, self.turn = (float(value) for value in obs)

    def step(self, action):
        force = self.p["force"] if action == 1 else -self.p["force"]
        c, s = math.cos(self.angle), math.sin(self.angle)
        temp = (force + 0.05 * self.turn**2 * s) / 1.1
        bend = (self.p["gravity"] * s - c * temp) / (0.5 * (4.0 / 3.0 - 0.1 * c**2 / 1.1))
        speed = temp - 0.05 * bend * c / 1.1
        self.x += 0.02 * self.v
        self.v += 0.02 * speed
        self.angle += 0.02 * self.turn
        self.turn += 0.02 * bend
        ended = abs(self.x) > 2.4 or abs(self.angle) > 0.2095
        return np.array([self.x, self.v, self.angle, self.turn], dtype=np.float32), 1.0, ended
"""
LINE = spaces.Box(-5.0, 5.0, (1,), np.float32)
WALK = """
import numpy as np

class World:
    def __init__(self, obs, rng):
        self.x = float(obs[0])

    def sync(self, obs):
        self.x = float(obs[0])

    def step(self, action):
        self.x += 0.5 * (float(np.ravel(action)[0]) - {middle})
        return np.array([self.x], np.float32), -abs(self.x - 2.0), False
"""


class Walk(gymnasium.Env[Any, Any]):
    """A number that actions move; the nearer to 2 the better."""

    def __init__(self, action_space: spaces.Space[Any], middle: float) -> None:
        self.observation_space, self.action_space = LINE, action_space
        self.middle, self.x = middle, 0.0

    def reset(self, **_: Any) -> tuple[Any, dict[str, Any]]:
        """Begin at 0."""
        self.x = 0.0
        return np.array([0.0], np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Move."""
        self.x += 0.5 * (float(np.ravel(action)[0]) - self.middle)
        return np.array([self.x], np.float32), -abs(self.x - 2.0), False, False, {}


class Here:
    """The part of an executor that fitting needs, in this process."""

    def __init__(self, box: Sandbox) -> None:
        self.box, self.predicted = box, 0

    async def replay(self, request: Replay) -> Predictions:
        """See `Executor.replay`."""
        self.predicted += sum(map(len, request.episodes))
        return self.box.replay(request)


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    """A sandbox for the module."""
    with Sandbox() as sandbox:
        yield sandbox


@pytest.mark.parametrize(
    ("action_space", "middle", "least"),
    [(spaces.Box(-1.0, 1.0, (1,), np.float32), 0.0, -12), (spaces.Discrete(3), 1.0, -25)],
)
def test_planners_reach_what_they_are_to_reach(
    box: Sandbox, action_space: spaces.Space[Any], middle: float, least: float
) -> None:
    """A model and a planner make one module that passes the gate and does well as an ordinary policy."""
    source = planning_policy(WALK.replace("{middle}", str(middle)), None, action_space)
    assert not planning_policy(WALK, None, spaces.MultiDiscrete([5, 5]))
    assert check_source(source) is None
    rollout = box.rollout(source, [Walk(action_space, middle)], [Trial(0, None, 15)])
    assert rollout.failure is None
    assert rollout.episodes[0].return_ > least  # staying where it begins costs 30


def test_a_planning_policy_keeps_the_models_fitted_numbers(box: Sandbox) -> None:
    """``PARAMS`` of the model do not become the policy's, and their values are those that were given."""
    env = gymnasium.make("CartPole-v1")
    source = planning_policy(CART, {"force": 10.0, "gravity": 9.8}, env.action_space)
    assert "\nPARAMS =" not in source
    assert '"force": (10.0, 1.0, 20.0)' in source
    rollout = box.rollout(source, [env], [Trial(0, None, 100)])
    assert rollout.failure is None
    assert rollout.episodes[0].steps == 100
    assert rollout.policy_seconds / 100 < 0.5  # 25 simulations of 100 steps, far within what one act may take


def test_numbers_of_a_model_are_found(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Physical constants that the model's author guessed wrong come out as they are."""
    monkeypatch.setattr(fitting, "MOST_PREDICTED", 20_000)
    env = gymnasium.make("CartPole-v1")
    rng = np.random.default_rng(0)
    episodes = []
    for seed in range(4):
        seen, actions = [env.reset(seed=seed)[0]], []
        ended = False
        while not ended:
            actions.append(int(rng.integers(2)))
            obs, _, ended, _, _ = env.step(actions[-1])
            seen.append(obs)
        episodes.append(
            Recorded(np.array(seen), np.array(actions, np.int64), np.ones(len(actions)), terminated=True)
        )
    both = (env.observation_space, env.action_space)
    found = asyncio.run(fitted(Here(box), CART, episodes, both))
    assert found is not None
    assert found["force"] == pytest.approx(10.0, abs=0.05)
    assert found["gravity"] == pytest.approx(9.8, abs=0.5)
    broken = CART.replace("force = self.p", "force = self.q")
    assert asyncio.run(fitted(Here(box), broken, episodes, both)) is None


TURNING = 'PARAMS = {"turn": (0.3, 0.0, 3.0)}\nclass World:\n    pass\n'


class Turning:
    """An executor whose world is an angle that grows by a parameter; what it predicts is worked out here."""

    predicted = 0

    async def replay(self, request: Replay) -> Predictions:
        """The angle from each observation that it is shown."""
        (episode,) = request.episodes
        self.predicted += len(episode)
        at = np.arange(len(episode))
        shown = np.asarray(episode.observations)[at - at % request.every]
        turned = (request.params or {})["turn"] * (at % request.every + 1)
        angle = np.arctan2(shown[:, 1], shown[:, 0]) + turned
        seen = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return Predictions(seen, np.zeros(len(episode)), np.zeros(len(episode), bool))


def test_numbers_far_from_the_guess_are_found_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rate whose error has many valleys is found in the whole of its range, within a bound on predicted steps."""
    both = spaces.Box(-1.0, 1.0, (2,), np.float32), spaces.Discrete(2)
    angles = 2.1 * np.arange(101)
    seen = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    episode = Recorded(seen, np.zeros(100, np.int64), np.zeros(100), terminated=False)
    here: Any = Turning()
    found = asyncio.run(fitted(here, TURNING, [episode], both))
    assert found is not None
    assert found["turn"] == pytest.approx(2.1, abs=0.002)
    monkeypatch.setattr(fitting, "MOST_PREDICTED", 4000)
    tight: Any = Turning()
    asyncio.run(fitted(tight, TURNING, [episode], both))
    assert tight.predicted < 4000 + 12 * 200  # what was begun is finished
    assert tight.predicted < here.predicted


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[promptpo.RunResult, Model]]:
    """One round on CartPole with a scripted model that also writes a world model."""
    model = Model({"r1.world1": f"```python\n{CART}```"}, default=TUNABLE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dreaming, "DREAM_STEPS", (6000,))
        patch.setattr(fitting, "MOST_PREDICTED", 40_000)
        patch.setattr(modelling, "GOOD", 2.0)  # what program search writes for a cart is as good as can be
        out = tmp_path_factory.mktemp("model") / "run"
        yield (
            optimize(
                model,
                out,
                rounds=1,
                candidates=1,
                recipe="model",
                max_steps=6000,
                episodes=2,
                validation_episodes=2,
                test_episodes=2,
                max_episode_steps=100,
            ),
            model,
        )


def test_a_language_model_is_asked_for_a_world_and_it_is_used(run: tuple[promptpo.RunResult, Model]) -> None:
    """Its model is fitted, scored, journalled and used: a candidate comes out of it that nobody paid steps to tune."""
    result, model = run
    assert "r1.world1" in model.asked()
    events = read_run(result.directory)
    world = events["world"][0].data
    assert world["score"]["worth"] > 0.9
    assert world["score"]["usable"]
    found = attempts_of(result)
    from_model = [name for name in found if name.endswith("tt") or name.startswith("w")]
    assert from_model
    assert max(found[name]["mean_return"] for name in from_model) > found["r1c1"]["mean_return"]
    request = next(request for request in model.requests if request.purpose == "world")
    assert "class World" in request.messages[-1].content
    assert "CartPoleEnv" not in request.system


def test_a_run_with_a_model_goes_on_where_it_was(
    run: tuple[promptpo.RunResult, Model], tmp_path: Path
) -> None:
    """A run that is taken up again asks for no model and takes no step that it has had."""
    import shutil

    directory = tmp_path / "again"
    shutil.copytree(run[0].directory, directory)
    again = Model(default=TUNABLE)
    resumed = promptpo.resume(directory, llm=ScriptedLLM(again), trust=True)
    assert again.requests == []
    assert resumed.data["steps"]["train"] == run[0].data["steps"]["train"]
    assert resumed.data["best"]["candidate"] == run[0].data["best"]["candidate"]


def test_a_run_shows_and_gives_away_its_model(
    run: tuple[promptpo.RunResult, Model], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`show` tells the held-out score; model.py steps; the exported environment passes Gymnasium's own check."""
    from gymnasium.utils.env_checker import check_env

    from promptpo.cli.app import run as command_line

    directory = run[0].directory
    told = overview(directory)
    assert "World model after" in told
    steps = re.search(r"([\d,]+) steps in the model, which cost none of the environment; (\d+) of the", told)
    assert steps is not None
    assert int(steps[1].replace(",", "")) >= 6000  # what tuning took, at least
    assert int(steps[2]) == sum(sum(event.data["spent"].values()) for event in read_run(directory)["look"])
    assert re.search(r"used for tuning or planning: yes, confirmed 1 of 1 time; the best comes from it", told)
    page = (directory / "report.html").read_text()
    assert "steps in the model, which cost none" in page
    assert '<section id="world">' in page
    out = tmp_path / "world.py"
    assert command_line(["export", str(directory), "--world", str(out)]) == 0
    for path in (out, directory / "model.py"):  # written by a test's own model, which may be run here
        module: dict[str, Any] = {"__name__": "world"}
        exec(compile(path.read_text(), str(path), "exec"), module)  # noqa: S102
        obs, reward, terminated = module["step"](np.zeros(4, np.float32), 1)
        assert obs.shape == (4,)
        assert (reward, bool(terminated)) == (1.0, False)
        if path == out:
            check_env(module["WorldEnv"](), skip_render_check=True)


def test_a_run_without_a_model_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exporting the model of a run that has none is refused in one sentence."""
    from promptpo.cli.app import run as command_line

    optimize(Model(), tmp_path / "run", rounds=1, candidates=1, episodes=2, test_episodes=2, recipe="paper")
    assert command_line(["export", str(tmp_path / "run"), "--world", str(tmp_path / "w.py")]) != 0
    assert "no world model" in capsys.readouterr().err
    assert not (tmp_path / "w.py").exists()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_program_search_needs_few_steps_in_a_model(tmp_path: Path) -> None:
    """Without a language model a policy that is found in a world model does well in the real environment.

    Nothing that random actions show tells policies apart here: it has to look where it has not been.
    """
    out = tmp_path / "run"
    result = promptpo.optimize(
        "Acrobot-v1",
        model="search",
        recipe="model",
        seed=1,
        rounds=1,
        max_steps=30_000,
        test_episodes=5,
        out=out,
    )
    found = attempts_of(result)
    from_model = [one for one in found.values() if one["id"].startswith("w")]
    assert from_model
    assert max(one["mean_return"] for one in from_model) > -150.0
    first = next(event for event in read_run(out)["attempt"] if event.data["candidate"]["id"].startswith("w"))
    before = [event for events in read_run(out).values() for event in events if event.n < first.n]
    taken = sum(
        sum(event.data["spent"].values())
        for event in before
        if isinstance(event.data, dict) and "spent" in event.data
    )
    assert taken < 12_000
    assert (out / "model.py").exists()


def test_pictures_have_no_model(tmp_path: Path) -> None:
    """Where observations are pictures the run says that no model is learnt, and goes on as usual."""
    from promptpo.world.numbers import quantities

    assert quantities(spaces.Box(0, 255, (84, 84, 3), np.uint8)) is None
    assert quantities(spaces.Text(5)) is None
    assert quantities(spaces.Box(0, 1, (2,), np.float32)) is not None
