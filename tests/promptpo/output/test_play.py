"""Playing a policy: videos of sandboxed episodes, and clear errors if none can be rendered."""

import importlib.util
import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from PIL import Image

from promptpo.cli.app import run
from promptpo.envs.task import Task
from promptpo.errors import EnvironmentFaultError, UsageError
from promptpo.output.film import RenderingError, film, record
from promptpo.output.film.images import png, smaller
from promptpo.output.film.renderer import explain_failure
from promptpo.output.play import play
from tests.promptpo.policies import CRASH, GOOD

SOURCE = GOOD.split("```python\n")[1].split("```")[0]
CARTPOLE = Task("CartPole-v1")


def durations(picture: Any) -> Iterator[Any]:
    """Yield the duration of each frame of an animation, in milliseconds."""
    for n in range(picture.n_frames):
        picture.seek(n)
        yield picture.info["duration"]


@pytest.fixture
def policy(tmp_path: Path) -> Any:
    """A policy file."""
    path = tmp_path / "policy.py"
    path.write_text(SOURCE)
    return path


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("imageio_ffmpeg") is None, reason="needs the video extra")
def test_mp4_has_the_episodes_frames(policy: Any, tmp_path: Path) -> None:
    import imageio.v3 as imageio

    found = play(policy, Task("CartPole-v1", {}, 20), video=tmp_path / "v.mp4")
    assert imageio.imread(found.video).shape == (21, 400, 600, 3)
    assert found.same


def test_failing_policy_has_no_video(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text(CRASH.split("```python\n")[1].split("```")[0])
    found = play(path, CARTPOLE, video=tmp_path / "v.gif")
    assert found.evaluation.outcome == "crashed"
    assert found.video is None
    assert not (tmp_path / "v.gif").exists()


def test_other_video_suffixes_are_rejected(policy: Any) -> None:
    with pytest.raises(UsageError, match=r"\.gif or \.mp4"):
        play(policy, CARTPOLE, video="v.avi")


@pytest.mark.skipif(bool(os.environ.get("DISPLAY")), reason="there is a screen")
def test_window_without_a_screen_is_an_error(policy: Any) -> None:
    """The error suggests --video."""
    with pytest.raises(RenderingError, match="--video"):
        play(policy, CARTPOLE, human=True)


@pytest.mark.slow
def test_environment_without_rendering_is_an_error_for_videos(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "policy.py"
    path.write_text("class Policy:\n    def act(self, obs):\n        return [0.0]\n")
    words = ["play", str(path), "--env", "tests.environments:Test/Thermostat-v0"]
    assert run([*words, "--video", str(tmp_path / "film.gif")]) == 1
    assert "does not accept render_mode" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            EnvironmentFaultError("building the environment X raised ValueError: only render_mode=None"),
            "cannot be rendered (building the environment X raised ValueError: only render_mode=None). Its constructor does not accept",
        ),
        (RuntimeError("an OpenGL platform library has not been loaded"), "MUJOCO_GL=egl"),
        (AttributeError("'NoneType' object has no attribute 'glGetError'"), "libosmesa6"),
        (ImportError("No module named 'pygame'"), "is missing"),
        (ValueError("odd"), "ValueError: odd"),
        (NotImplementedError(), "(NotImplementedError). Its method render is not implemented."),
    ],
)
def test_renderer_errors_suggest_a_fix(error: Any, words: str) -> None:
    """Exceptions of third-party renderers become one sentence."""
    assert words in explain_failure(CARTPOLE, error)


@pytest.mark.slow
def test_film_repeats_the_recorded_episode() -> None:
    """It has the same return."""
    episode = record(CARTPOLE, SOURCE, [7], horizon=100).episodes[0]
    found = film(CARTPOLE, episode, frames=10)
    steps = [step for step, *_ in found.frames]
    assert (steps[0], steps[-1]) == (0, 100)
    assert len(steps) <= 11
    assert found.same
    assert found.whole


@pytest.mark.parametrize("seed", range(3))
def test_png_is_lossless(seed: Any, tmp_path: Path) -> None:
    frame = np.random.default_rng(seed).integers(0, 256, (5 + seed, 7, 3), np.uint8)
    (tmp_path / "x.png").write_bytes(png(frame))
    with Image.open(tmp_path / "x.png") as picture:
        assert (np.asarray(picture) == frame).all()


def test_slow_rendering_skips_frames_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    """The film still has the start, the middle and the end."""
    from promptpo.output.film import renderer

    episode = record(CARTPOLE, SOURCE, [0], horizon=60).episodes[0]
    real = gymnasium.make("CartPole-v1", render_mode="rgb_array")

    now = [0.0]

    def slow_frame(*_: Any) -> Any:
        now[0] += 0.05
        return np.zeros((8, 8, 3), np.uint8)

    monkeypatch.setattr(renderer, "_upright", slow_frame)
    monkeypatch.setattr(renderer, "time", SimpleNamespace(monotonic=lambda: now[0]))
    wanted = {"frames": 60, "width": 8, "seconds": 1.0}
    steps = [step for step, *_ in renderer._pictures(real, episode, str, wanted)["frames"]]
    real.close()
    assert 15 < len(steps) < 25  # a second has time for 20
    assert (steps[0], steps[-1]) == (0, 60)
    assert max(b - a for a, b in itertools.pairwise(steps)) < 30


def test_images_are_downscaled_by_whole_factors() -> None:
    """White stays white and black stays black."""
    frame = np.full((400, 600, 3), 255, np.uint8)
    frame[:200] = 0
    small = smaller(frame, 300)
    assert small.shape == (200, 300, 3)
    assert (small[0, 0, 0], small[-1, 0, 0]) == (0, 255)


def test_downscaled_pixels_are_block_means() -> None:
    """Sizes need not be multiples of the factor; five bits remain per colour."""
    frame = np.random.default_rng(0).integers(0, 256, (100, 304, 3), np.uint8)
    small = smaller(frame, 102)
    blocks = frame[:99].reshape(33, 3, 304, 3)[:, :, :303].reshape(33, 3, 101, 3, 3).mean(axis=(1, 3))
    assert small.shape == (34, 102, 3)
    assert np.abs(small[:33, :101] - blocks).max() <= 9
    assert len(np.unique(small)) <= 32


@pytest.mark.slow
def test_play_command_writes_a_gif_without_a_screen(
    policy: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The start and each step have a frame."""
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    code = run(["play", str(policy), "--env", "CartPole-v1", "--max-episode-steps", "10", "--json"])
    value = json.loads(capsys.readouterr().out)
    assert code == 0
    assert value["returns"] == [10.0]
    assert value["video"] == str(policy.with_suffix(".gif"))
    with Image.open(value["video"]) as picture:
        assert picture.n_frames > 3  # equal neighbours are merged
        assert sum(durations(picture)) >= 11 * 20  # at CartPole's 50 a second
        assert picture.size == (600, 400)


@pytest.mark.slow
@pytest.mark.parametrize(
    "unseen",
    ["def __init__(self): pass", "def __init__(self, render_mode=None): self.render_mode = render_mode",
     "def __init__(self, render_mode=None): assert render_mode is None, 'no display'"],
)  # fmt: skip
def test_environment_without_rendering_is_played(
    unseen: str, policy: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The warning names no internal class."""
    (tmp_path / "unseen.py").write_text(
        "import gymnasium, numpy\n\n"
        "class Unseen(gymnasium.Env):\n"
        "    observation_space, action_space = gymnasium.spaces.Box(-1, 1, (4,)), gymnasium.spaces.Discrete(2)\n"
        "    metadata = {'render_modes': ['human', 'rgb_array']}\n"
        f"    {unseen}\n"
        "    def reset(self, **how): return numpy.zeros(4, numpy.float32), {}\n"
        "    def step(self, action): return numpy.zeros(4, numpy.float32), 1.0, False, False, {}\n"
        "    def render(self): return None\n"
    )
    words = ["play", str(policy), "--env", f"{tmp_path / 'unseen.py'}:Unseen"]
    assert run([*words, "--max-episode-steps", "20"]) == 0
    shown = capfd.readouterr()
    assert "mean return 20" in shown.out
    assert "played without pictures" in shown.err
    assert "FaultError" not in shown.err
