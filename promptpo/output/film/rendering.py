"""The calling side of rendering: it starts the process that renders, and reads the answer."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.envs.task import Task
from promptpo.errors import RenderingError as RenderingError  # noqa: PLC0414 - still importable from here
from promptpo.output.film.episodes import trajectory_of
from promptpo.rollouts.jobs import registrations

if TYPE_CHECKING:
    from promptpo_sandbox import Episode


Frame = tuple[int, str, str]
"""Step (0 is the start), PNG file in base64, and position of the body that the camera follows."""


@dataclass(frozen=True, slots=True)
class Film:
    """Frames of one episode.

    Attributes:
        frames: Frames in the order of their steps.
        fps: Steps per second at which the environment is meant to be watched.
        same: Whether the repeated episode gave the recorded return.
        whole: Whether all frames are there; False if time ran out.
    """

    frames: tuple[Frame, ...]
    fps: float
    same: bool
    whole: bool


OFFSCREEN = {"SDL_VIDEODRIVER": "dummy", "PYGAME_HIDE_SUPPORT_PROMPT": "1"} | (
    {"MUJOCO_GL": "egl"} if sys.platform == "linux" else {}
)
"""Environment variables with which renderers need no screen, unless the user has set them."""

STARTING = 20.0
"""Seconds that a renderer may take before its first picture and after its last."""


def film(
    task: Task,
    episode: Episode,
    *,
    frames: int = 60,
    width: int = 300,
    seconds: float = 30.0,
) -> Film:
    """Repeat a recorded episode and take pictures of it.

    Args:
        task: The environment.
        episode: The episode with its trajectory.
        frames: Maximum number of pictures; a long episode is shown in larger steps.
        width: Maximum width in pixels.
        seconds: Time limit; what is rendered by then is shown.

    Raises:
        RenderingError: The environment cannot be rendered here.
    """
    return Film(**_render(task, [episode], "frames", seconds, frames=frames, width=width))


def write_video(task: Task, episodes: Sequence[Episode], path: Path) -> bool:
    """Write recorded episodes as one GIF or MP4 file; return whether their repetition gave the recorded returns.

    Raises:
        RenderingError: The environment cannot be rendered here, or the file cannot be written.
    """
    return bool(_render(task, episodes, "video", 600.0, path=path.absolute())["same"])


def show(task: Task, episodes: Sequence[Episode]) -> bool:
    """Show recorded episodes in a window, in real time.

    Returns:
        Whether their repetition gave the recorded returns.

    Raises:
        RenderingError: There is no screen, or the environment has no window.
    """
    if not has_screen():
        raise RenderingError(
            "there is no screen here (DISPLAY is not set); write a file with --video instead."
        )
    return bool(_render(task, episodes, "human", None)["same"])


def has_screen() -> bool:
    """Whether a window can be expected to open here."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _render(
    task: Task, episodes: Sequence[Episode], mode: str, seconds: float | None, **options: Any
) -> dict[str, Any]:
    actions_only = [
        replace(
            episode,
            # the return to be repeated: the renderer has no reward program
            return_=episode.return_ if episode.env_return is None else episode.env_return,
            trajectory=replace(trajectory_of(episode), observations=(), debug=(), infos=()),
        )
        for episode in episodes
    ]
    with tempfile.TemporaryDirectory(prefix="promptpo-film-") as folder:
        request, answer = Path(folder) / "request", Path(folder) / "answer.json"
        message = {"mode": mode, "seconds": seconds, "answer": answer, **options}
        request.write_bytes(pickle.dumps((task, registrations(task), actions_only, message)))
        problem = _run_child(request, mode, None if seconds is None else seconds + STARTING)
        found = json.loads(answer.read_text(encoding="utf-8")) if answer.exists() else {"error": problem}
    if "error" in found:
        raise RenderingError(found["error"])
    return dict(found)


def _run_child(request: Path, mode: str, timeout: float | None) -> str:
    """Run the renderer to its end; return why it ended, in case it left no answer."""
    command = [sys.executable, "-P", "-m", "promptpo.output.film.renderer", str(request)]
    # The child must find promptpo where this process found it, installed or not.
    found_at = os.pathsep.join(path for path in sys.path if path)
    environment = ({} if mode == "human" else OFFSCREEN) | os.environ | {"PYTHONPATH": found_at}
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"rendering took longer than {timeout:.0f} seconds."
    last = done.stderr.decode(errors="replace").strip().splitlines()
    return f"the rendering process ended with code {done.returncode}" + (f": {last[-1]}" if last else ".")
