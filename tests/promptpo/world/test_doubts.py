"""Several world models: how far they are apart, and that steps go where they are."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from promptpo.envs.task import Task
from promptpo.run.config import Config
from promptpo.run.journal import Journal
from promptpo.search.doubting import Doubts
from promptpo.search.dreaming import Dreamer
from promptpo.search.model_rounds import ModelRounds
from promptpo.search.modelling import Modelled, Modeller
from promptpo.world.disagreement import disagreement
from sandbox import Imagine, Predictions, Replay, Rollout, Sandbox, Trial
from sandbox.worlds import Recorded
from tests.promptpo.world.test_lessons import FREE, RIGHT, Wall

KNOWS = FREE.replace("self.x += float(action[0])", "self.x = min(3.0, self.x + float(action[0]))")
LEFT = RIGHT.replace("1.0", "-1.0")


class Here:
    """The part of an executor that worlds need, in this process."""

    jobs = 1

    def __init__(self, box: Sandbox) -> None:
        self.box = box

    async def replay(self, request: Replay) -> Predictions:
        """See `Executor.replay`."""
        return self.box.replay(request)

    async def imagine(self, request: Imagine) -> Rollout:
        """See `Executor.imagine`."""
        return self.box.imagine(request)


@pytest.fixture(scope="module")
def here() -> Iterator[Here]:
    """A sandbox for the module's worlds."""
    with Sandbox() as box:
        yield Here(box)


def known(here: Here, tmp_path: Path, journal: Journal) -> Modeller:
    """What an episode to the left and three steps to the right have shown."""
    env = Wall()
    spender: Any = SimpleNamespace(journal=journal, executor=here)
    spec: Any = SimpleNamespace(observation_space=env.observation_space, action_space=env.action_space)
    modeller = Modeller(spec, spender, 10)
    for key, policy, steps in (("one", LEFT, 10), ("two", RIGHT, 3), ("three", LEFT, 5), ("four", RIGHT, 3)):
        modeller.take(key, here.box.rollout(policy, [env], [Trial(0, None, steps)], record=True))
    return modeller


def test_models_are_apart_where_nothing_was_recorded(here: Here, tmp_path: Path) -> None:
    """Two models that agree on the recorded steps are found to differ beyond them; one alone, or a broken one, tells nothing."""
    with Journal(tmp_path) as journal:
        modeller = known(here, tmp_path, journal)
        fitting = modeller.experience.fitting
        executor: Any = here

        def apart(sources: list[str], episodes: tuple[Recorded, ...]) -> float | None:
            return asyncio.run(disagreement(executor, sources, episodes, fitting, modeller.spaces))

        rollout = here.box.rollout(RIGHT, [Wall()], [Trial(0, None, 10)], record=True)
        from promptpo.world.data import recorded_in

        beyond = recorded_in(rollout, *modeller.spaces)
        assert apart([FREE, KNOWS], fitting) == 0.0
        far = apart([FREE, KNOWS], beyond)
        assert far is not None
        assert far > 0.5
        assert apart([FREE], beyond) is None
        assert apart([FREE, "class World:\n    pass\n"], beyond) is None


def test_steps_go_where_models_disagree(here: Here, tmp_path: Path) -> None:
    """Of several policies the one is chosen that leads where the models differ; none where they agree."""
    with Journal(tmp_path) as journal:
        modeller = known(here, tmp_path, journal)
        executor: Any = here
        doubts = Doubts(modeller, Dreamer(modeller, executor, 10, 0), executor, journal)
        score = {"usable": True, "worth": 0.9}
        world = Modelled(FREE, score, others=(KNOWS,))
        source, apart = asyncio.run(doubts.most("r1.doubt", world, [LEFT, RIGHT, LEFT]))
        assert source == RIGHT
        assert apart > 0.5
        assert asyncio.run(doubts.most("r1.doubt", world, [])) == (source, apart)  # worked out once
        assert asyncio.run(doubts.most("r2.doubt", world, [LEFT])) == ("", 0.0)
        assert asyncio.run(doubts.most("r3.doubt", Modelled(FREE, score), [RIGHT])) == ("", 0.0)


def test_a_doubt_costs_its_allowance_and_is_told(tmp_path: Path) -> None:
    """Two episodes of the policy that splits the models are played, of 1,000 steps in all at most, and a note says why."""
    played: list[tuple[Any, ...]] = []

    async def play(key: str, source: str, seeds: Any, horizon: int) -> list[float]:
        played.append((key, source, len(seeds), horizon))
        return [0.0]

    notes: list[tuple[Any, ...]] = []
    with Journal(tmp_path) as journal:
        paid: Any = SimpleNamespace(
            horizon=4000, play=play, note=lambda *what: notes.append(what), chance=0.0
        )
        env = Wall()
        modeller: Any = SimpleNamespace(spaces=(env.observation_space, env.action_space))
        spender: Any = SimpleNamespace(journal=journal, executor=None)
        nobody: Any = None
        rounds = ModelRounds(nobody, spender, Config(Task("Any-v0")), modeller, nobody, nobody, paid, None)
        world = Modelled(FREE, {"usable": True, "worth": 0.9}, others=(KNOWS,))
        journal.add("dream", "r2.doubt", {"source": RIGHT, "apart": 1.25})
        asyncio.run(rounds._look_where_doubtful(2, world, [LEFT, RIGHT]))
        assert played == [("r2.doubt", RIGHT, 2, 500)]
        assert "1.2 usual changes apart" in notes[0][1]
        journal.add("dream", "r3.doubt", {"source": "", "apart": 0.0})
        asyncio.run(rounds._look_where_doubtful(3, world, [LEFT, RIGHT]))
        assert len(played) == 1
