"""Pictures in prompts: strips of the leader's episodes, first frames, and for whom there are any."""

from __future__ import annotations

import asyncio
import base64
import io
import logging
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from PIL import Image

import promptpo
from promptpo.api import make_config
from promptpo.core.artifacts import PICTURES
from promptpo.core.candidate import Attempt, Candidate
from promptpo.core.feature import Plan, PromptSection, RunStatus, SearchContext
from promptpo.core.history import History
from promptpo.core.journal import Journal
from promptpo.core.ledger import Ledger
from promptpo.core.work import RecordedWork
from promptpo.envs.task import Task
from promptpo.errors import RenderingError, UsageError
from promptpo.features.film.feature import Filming
from promptpo.llm.scripted import ScriptedLLM
from promptpo.output.film import renderer
from promptpo.output.film.strip import strip
from promptpo.program import Program
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.spec import TaskSpec
from promptpo.spec.describe import describe_env
from promptpo.spec.pictures import enlarge
from promptpo_sandbox import Episode, Rollout, Trajectory
from tests.promptpo.llm.test_stills import png
from tests.promptpo.optimizing import QUICK, Model
from tests.promptpo.policies import GOOD
from tests.sandbox.test_looking import PictureEnv

SOURCE = "class Policy:\n    def act(self, obs):\n        return 1\n"


def episode(seed: int, return_: float) -> Episode:
    """A recorded episode of three steps."""
    trajectory = Trajectory([np.zeros(2)] * 4, [0, 1, 0], [0.0, 0.0, return_])
    return Episode(seed, return_, 3, True, False, None, 0, 0.0, trajectory)


def leader() -> Attempt:
    """A candidate that earned from 1 to 9."""
    records = tuple(EpisodeRecord(seed, value, 3) for seed, value in ((4, 5.0), (5, 1.0), (6, 9.0)))
    digest = Program.parse(SOURCE).digest
    return Attempt(Candidate("r1c1", SOURCE, 1, digest=digest), Evaluation("ok", records, 9), "")


def rollout(*returns: float) -> Rollout:
    """Episodes with these returns."""
    return Rollout(tuple(episode(n, value) for n, value in enumerate(returns)), None, 9, "", 0.0)


class Camera:
    """Takes a picture as grey as the episode's return, and counts."""

    def __init__(self) -> None:
        self.filmed: list[Episode] = []

    def __call__(self, filmed: Episode) -> tuple[bytes, tuple[int, ...]]:
        self.filmed.append(filmed)
        return png(int(filmed.return_)), (0, 2, 3)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    """Of a new run."""
    with Journal(tmp_path / "run") as opened:
        yield opened


@cache
def spec_of_pictures() -> TaskSpec:
    """Of the environment that all are shown here."""
    return describe_env(PictureEnv(), Task("Pictures-v0"))[0]


def filming(journal: Journal, camera: Any) -> Filming:
    """For a run on pictures."""
    config = make_config(Task("Pictures-v0"), {})
    llm = ScriptedLLM([], sees=True)
    work = RecordedWork(llm, None, config, journal, Ledger(config.budget, journal.events))
    return Filming(SearchContext(spec_of_pictures(), config, work, 100, camera), camera)


def section(film: Filming, *, first: bool = False) -> PromptSection | None:
    """What is added to a request."""
    return film.section(Plan(1, 0, "first" if first else "level"), RunStatus(1, 2))


def shown(film: Filming, *, first: bool = False) -> PromptSection:
    """The same where something is."""
    found = section(film, first=first)
    assert found is not None
    return found


def history() -> History:
    """With one candidate, which leads."""
    return History([leader()], rounds=1, leader_id="r1c1")


def test_the_worst_and_the_best_episode_are_shown(journal: Journal) -> None:
    """Each as a strip with who, what it earned and its steps; made once, on the disk before the journal names it."""
    camera = Camera()
    film = filming(journal, camera)
    assert [still.caption[:5] for still in shown(film, first=True).stills] == ["`obs`", "The s"]
    film.on_rollout("", SOURCE, rollout(5, 1, 9))
    for _ in range(2):
        asyncio.run(film.before_round(2, history()))
    assert [one.return_ for one in camera.filmed] == [1, 9]
    assert all(len(one.trajectory.observations) == 0 for one in camera.filmed)
    frame, worst, best = shown(film).stills
    assert frame.caption.startswith("`obs` at the start of an episode")
    assert worst.caption == "The worst training episode of r1c1 (return 1, 3 steps), after steps 0, 2, 3:"
    assert best.caption.startswith("The best training episode of r1c1 (return 9, 3 steps)")
    folder = journal.directory / PICTURES
    assert {path.name for path in folder.iterdir()} == {f"{worst.digest}.png", f"{best.digest}.png"}
    unused = Camera()
    again = filming(journal, unused)
    asyncio.run(again.before_round(2, history()))
    assert shown(again).stills == shown(film).stills
    assert unused.filmed == []


def test_equal_episodes_are_shown_once(journal: Journal) -> None:
    """Where all earned the same, one is typical."""
    film = filming(journal, Camera())
    film.on_rollout("", SOURCE, rollout(5, 5, 5))
    asyncio.run(film.before_round(2, history()))
    assert [still.caption.split(" (")[0] for still in shown(film).stills[1:]] == [
        "A typical training episode of r1c1"
    ]


@pytest.mark.parametrize(
    ("sees", "frames", "pictures"),
    [
        (True, None, True),
        (True, False, False),
        (None, None, False),
        (None, True, True),
        (False, True, False),
        (False, None, False),
    ],
)
def test_who_is_shown_pictures(sees: bool | None, frames: bool | None, pictures: bool) -> None:
    """By default models that are known to see; on demand those of which it is not known; never those that do not."""
    config = make_config(Task("Pictures-v0"), {"frames": frames})
    assert config.shows_frames(ScriptedLLM([], sees=sees)) is pictures


def test_what_cannot_be_rendered_is_said_once(journal: Journal, caplog: pytest.LogCaptureFixture) -> None:
    """The search goes on in words, and nobody tries that leader again."""

    def broken(_: Episode) -> Any:
        raise RenderingError("it cannot be rendered.")

    film = filming(journal, broken)
    film.on_rollout("", SOURCE, rollout(5, 1))
    with caplog.at_level(logging.WARNING):
        asyncio.run(film.before_round(2, history()))
        asyncio.run(film.before_round(2, history()))
    assert [record.getMessage() for record in caplog.records] == [
        "no film strips are shown: it cannot be rendered."
    ]
    assert len(shown(film).stills) == 1
    assert shown(film).note == "No film strips are shown: it cannot be rendered."


class Clock:
    """Seconds that pass only where they are meant to."""

    now = 0.0


class Sluggish(gymnasium.Env[Any, Any]):
    """Steps take long when they are rendered."""

    clock = Clock()

    observation_space = gymnasium.spaces.Box(0, 1, (1,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)
    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012 - Gymnasium's way

    def __init__(self, wait: float, render_mode: str | None = "rgb_array") -> None:
        self.wait, self.render_mode, self.t = wait, render_mode, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.t = 0
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        self.clock.now += self.wait
        self.t += 1
        return np.zeros(1, np.float32), 1.0, False, False, {}

    def render(self) -> Any:
        return np.full((10, 10, 3), self.t % 256, np.uint8)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The renderer's, and the environments'."""
    clock = Clock()
    monkeypatch.setattr(renderer, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(Sluggish, "clock", clock)
    return clock


@pytest.mark.usefixtures("clock")
def test_rendering_ends_where_the_steps_are_slow() -> None:
    """After little more than its seconds, with what there is until then; quick ones show steps evenly."""
    trajectory = Trajectory([], [0] * 300, [1.0] * 300)
    whole = Episode(1, 300.0, 300, False, True, None, 0, 0.0, trajectory)
    wanted = {"frames": 7, "width": 50, "seconds": 0.2}
    slow = renderer._pictures(Sluggish(0.05), whole, str, wanted)
    assert not slow["whole"]
    assert [step for step, *_ in slow["frames"]] == [0, 7]  # 0.35 s, of 15 s
    quick = renderer._pictures(Sluggish(0.0), whole, str, {**wanted, "seconds": 20})
    assert [step for step, *_ in quick["frames"]] == [0, *range(43, 300, 43), 300]
    assert quick["whole"]


def test_a_renderer_that_starts_slowly_leaves_no_picture_out(clock: Clock) -> None:
    """What the first picture waits for says nothing of the others."""

    class Late(Sluggish):
        """Its first picture takes longer than all are given."""

        def render(self) -> Any:
            """A picture."""
            if self.t == 0:
                clock.now += 1.1
            return super().render()

    trajectory = Trajectory([], [0] * 70, [1.0] * 70)
    whole = Episode(1, 70.0, 70, False, True, None, 0, 0.0, trajectory)
    found = renderer._pictures(Late(0.0), whole, str, {"frames": 7, "width": 50, "seconds": 1})
    assert [step for step, *_ in found["frames"]] == [0, 10, 20, 30, 40, 50, 60, 70]


def test_strips_hold_their_pictures_in_order() -> None:
    """Left to right, then down."""

    def encoded(shade: int) -> str:
        return base64.b64encode(png(shade)).decode()

    chosen = [(n, encoded(10 * n), "") for n in range(0, 24, 3)]
    sheet = np.asarray(Image.open(io.BytesIO(strip(chosen))))
    height, width = sheet.shape[0] // 2, sheet.shape[1] // 4
    middles = [int(sheet[r * height + 14 + 10, c * width + 4 + 15, 0]) for r in range(2) for c in range(4)]
    assert middles == [10 * step for step, *_ in chosen]
    assert len(strip([(0, encoded(1), "x = 0.00, y = 0.00")])) > 0


def test_a_small_frame_is_enlarged() -> None:
    """Its pixels stay exactly as they were."""
    frame = np.random.default_rng(0).integers(0, 256, (40, 60, 3), dtype=np.uint8)
    sheet = np.asarray(Image.open(io.BytesIO(enlarge(frame, 7))))
    assert sheet.shape == (40 * 7, 60 * 7, 3)
    assert np.array_equal(sheet[3::7, 3::7], frame)


def test_frames_do_not_go_with_hidden_names() -> None:
    """What hides which environment it is refuses what shows it, in one sentence."""
    with pytest.raises(UsageError, match="--frames shows which environment it is"):
        make_config(Task("CartPole-v1"), {"frames": True, "reveal": "anonymous"})


@pytest.mark.slow
def test_a_run_shows_strips_of_real_episodes(tmp_path: Path) -> None:
    """In the second round: rendered by another process, in the journal's prompt by digest, and a replay needs none."""
    model = Model(default=GOOD.replace("0.5", "0.05"))
    llm = ScriptedLLM(model, sees=True)
    run = promptpo.optimize(
        "CartPole-v1", llm=llm, out=tmp_path / "run", rounds=2, candidates=1, tune="none", **QUICK
    )
    asked = {request.key: request.stills for request in llm.requests}
    assert asked["r1.c1"] == ()
    assert 1 <= len(asked["r2.c1"]) <= 2
    for still in asked["r2.c1"]:
        assert Path(still.path).read_bytes() == still.png
        assert Path(still.path).parent == run.directory / PICTURES
        assert still.digest in (run.directory / "journal.jsonl").read_text()
    again = promptpo.optimize(
        "CartPole-v1",
        model=f"replay:{run.directory}",
        out=tmp_path / "again",
        rounds=2,
        candidates=1,
        tune="none",
        **QUICK,
    )
    assert again.mean_return == run.mean_return
    assert not (again.directory / PICTURES).exists()
