"""Where a world model promised too much: what is told of it, and that it is not believed again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import promptpo
from promptpo.cli.show import overview
from promptpo.run.journal import Journal, read_run
from promptpo.run.records import Candidate
from promptpo.search import modelling
from promptpo.search.lessons import Lessons, disappoints
from promptpo.search.model_rounds import ModelRounds
from promptpo.search.modelling import Modelled, Modeller
from promptpo.world import scoring
from sandbox import Predictions, Replay, Sandbox, Trial
from tests.promptpo.optimizing import Model, optimize
from tests.promptpo.world.test_using import CART

FREE = """
import numpy as np


class World:
    def __init__(self, obs, rng):
        self.x = float(obs[0])

    def sync(self, obs):
        self.x = float(obs[0])

    def step(self, action):
        self.x += float(action[0])
        return np.array([self.x], np.float32), self.x, False
"""
RIGHT = (
    "import numpy as np\nclass Policy:\n    def act(self, obs):\n        return np.array([1.0], np.float32)\n"
)


class Wall(gymnasium.Env[Any, Any]):
    """A number that actions move up to 3, where a wall is."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-20.0, 20.0, (1,), np.float32)
        self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.x = 0.0

    def reset(self, **_: Any) -> tuple[Any, dict[str, Any]]:
        """Begin at 0."""
        self.x = 0.0
        return np.array([0.0], np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Move."""
        self.x = min(3.0, self.x + float(np.ravel(action)[0]))
        return np.array([self.x], np.float32), self.x, False, False, {}


class Here:
    """The part of an executor that worlds need, in this process."""

    def __init__(self, box: Sandbox) -> None:
        self.box = box

    async def replay(self, request: Replay) -> Predictions:
        """See `Executor.replay`."""
        return self.box.replay(request)


def modelled(source: str) -> Modelled:
    """A model that may be used."""
    return Modelled(source, {"usable": True, "worth": 0.9, "calibration": None})


def test_the_first_departure_is_told_as_rows(tmp_path: Path) -> None:
    """A model that knows no wall departs at the wall: predicted beside real, from its own predictions on."""
    env = Wall()
    with Sandbox() as box, Journal(tmp_path) as journal:
        spender: Any = SimpleNamespace(journal=journal, executor=Here(box))
        spec: Any = SimpleNamespace(observation_space=env.observation_space, action_space=env.action_space)
        modeller = Modeller(spec, spender, 10)
        modeller.take("one", box.rollout(RIGHT, [env], [Trial(0, None, 10)], record=True))
        lessons = Lessons(modeller, SimpleNamespace(), journal)
        lesson = asyncio.run(lessons.learn("r1c1tt", "one", RIGHT, modelled(FREE), 55.0, 27.0))
        assert [row.split(":")[0] for row in lesson.rows] == ["step 3", "step 4", "step 5"]
        assert "obs [3], action [1]: predicted [4], reward 4; really [3], reward 3" in lesson.rows[0]
        assert "obs [4], action [1]: predicted [5]" in lesson.rows[1]
        assert lessons.untold() == (lesson,)
        assert lessons.untold() == ()  # a good model is not asked for again and again
        assert modeller.earned("one", 4) == 1.0 + 2.0 + 3.0 + 3.0  # as a policy that plans is promised it
        assert modeller.earned("gone", 4) is None
        again = Lessons(modeller, SimpleNamespace(), journal)
        unkept = asyncio.run(again.learn("r1c1tt", "gone", RIGHT, modelled(FREE), 0.0, 0.0))
        assert unkept == lesson  # a resumed run works nothing out again


def test_what_disappoints_is_clear() -> None:
    """A quarter of what was promised above chance, or noise, is no disappointment; less than that is."""
    assert disappoints(100.0, 70.0, chance=0.0)
    assert not disappoints(100.0, 80.0, chance=0.0)
    assert not disappoints(100.0, 70.0, chance=0.0, error=20.0)
    assert disappoints(100.0, 70.0, chance=0.0, error=5.0)
    assert not disappoints(-100.0, -180.0, chance=-500.0)
    assert disappoints(100.0, float("nan"), chance=0.0)


def test_a_model_that_repeats_a_broken_promise_is_not_used(tmp_path: Path) -> None:
    """A policy that disappointed is played in the next model; if that promises as much, it says why it is not used."""
    promises = {"believes": 90.0, "knows": 30.0}

    async def promised(dream: Any, _source: str) -> float:
        return promises[dream]

    with Journal(tmp_path) as journal:
        spec: Any = SimpleNamespace(
            observation_space=spaces.Box(-1, 1, (1,)), action_space=spaces.Box(-1, 1, (1,))
        )
        spender: Any = SimpleNamespace(journal=journal, executor=None)
        dreamer: Any = SimpleNamespace(promise=promised)
        lessons = Lessons(Modeller(spec, spender, 10), dreamer, journal)
        asyncio.run(lessons.learn("r1c1tt", "gone", RIGHT, modelled(FREE), 100.0, 30.0))
        worlds: Any = ("believes", "knows")
        assert "still promises 90 of r1c1tt" in asyncio.run(lessons.broken(worlds[0], 0.0))
        assert asyncio.run(lessons.broken(worlds[1], 0.0)) == ""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[promptpo.RunResult, Model]]:
    """Two rounds on CartPole in which the model promises 400 of a policy that always pushes to the right."""
    model = Model()
    idle = "class Policy:\n    def act(self, obs):\n        return 1\n"

    async def proposed(
        _self: Any, number: int, _world: Any, _history: Any, _attempts: Any
    ) -> list[tuple[Candidate, float]]:
        return [(Candidate("w1c1", idle, 1), 400.0)] if number == 1 else []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(modelling, "write_world", lambda *_: CART)  # whose force is not right
        patch.setattr(scoring, "USABLE", 0.1)
        patch.setattr(ModelRounds, "_proposed", proposed)
        out = tmp_path_factory.mktemp("lesson") / "run"
        yield optimize(model, out, rounds=2, candidates=1, recipe="model", max_steps=6000, tune="none"), model


def test_a_disappointment_is_told_to_whoever_writes_next(
    run: tuple[promptpo.RunResult, Model], tmp_path: Path
) -> None:
    """The request for a better model, and `show`, tell promise, earnings and rows."""
    result, model = run
    told = read_run(result.directory)["disappointment"]
    assert [event.key for event in told] == ["w1c1"]
    rows = told[0].data["rows"]
    assert rows
    assert "predicted [" in rows[0]
    assert "really [" in rows[0]
    requests = {request.key: request.messages[-1].content for request in model.requests}
    assert "w1c1" in requests["r2.world1"]
    assert rows[0] in requests["r2.world1"]
    assert rows[0] not in requests["r1.c1"]
    shown = overview(result.directory)
    assert "w1c1 was promised 400 by the model and earned" in shown
    assert rows[0] in shown
