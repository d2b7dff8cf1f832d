"""Film strips: the images that they contain, and the time limit of rendering."""

from __future__ import annotations

import base64
import io
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from PIL import Image

from promptpo.output.film import renderer
from promptpo.output.film.strip import strip
from promptpo_sandbox import Episode, Trajectory
from tests.promptpo.llm.test_images import png


class FakeClock:
    """Seconds that pass only when a test advances them."""

    now = 0.0


class Sluggish(gymnasium.Env[Any, Any]):
    """Steps take long when they are rendered."""

    clock = FakeClock()

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
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """The clock of the renderer and of the environments."""
    clock = FakeClock()
    monkeypatch.setattr(renderer, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(Sluggish, "clock", clock)
    return clock


@pytest.mark.usefixtures("clock")
def test_rendering_respects_its_time_limit() -> None:
    """Slow steps end the film soon after the limit; fast ones are shown evenly."""
    trajectory = Trajectory([], [0] * 300, [1.0] * 300)
    whole = Episode(1, 300.0, 300, False, True, None, 0, 0.0, trajectory)
    wanted = {"frames": 7, "width": 50, "seconds": 0.2}
    slow = renderer._pictures(Sluggish(0.05), whole, str, wanted)
    assert not slow["whole"]
    assert [step for step, *_ in slow["frames"]] == [0, 7]  # 0.35 s, of 15 s
    quick = renderer._pictures(Sluggish(0.0), whole, str, {**wanted, "seconds": 20})
    assert [step for step, *_ in quick["frames"]] == [0, *range(43, 300, 43), 300]
    assert quick["whole"]


def test_slow_first_frame_skips_no_frames(clock: FakeClock) -> None:
    """The first frame includes the start of the renderer."""

    class Late(Sluggish):
        """Takes longer for the first frame than the limit for all."""

        def render(self) -> Any:
            """Return a frame."""
            if self.t == 0:
                clock.now += 1.1
            return super().render()

    trajectory = Trajectory([], [0] * 70, [1.0] * 70)
    whole = Episode(1, 70.0, 70, False, True, None, 0, 0.0, trajectory)
    found = renderer._pictures(Late(0.0), whole, str, {"frames": 7, "width": 50, "seconds": 1})
    assert [step for step, *_ in found["frames"]] == [0, 10, 20, 30, 40, 50, 60, 70]


def test_strip_is_ordered_left_to_right_then_down() -> None:

    def encoded(shade: int) -> str:
        return base64.b64encode(png(shade)).decode()

    chosen = [(n, encoded(10 * n), "") for n in range(0, 24, 3)]
    sheet = np.asarray(Image.open(io.BytesIO(strip(chosen))))
    height, width = sheet.shape[0] // 2, sheet.shape[1] // 4
    middles = [int(sheet[r * height + 14 + 10, c * width + 4 + 15, 0]) for r in range(2) for c in range(4)]
    assert middles == [10 * step for step, *_ in chosen]
    assert len(strip([(0, encoded(1), "x = 0.00, y = 0.00")])) > 0
