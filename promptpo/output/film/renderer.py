"""The process that renders: ``python -m promptpo.output.film.renderer REQUEST``.

It repeats recorded actions in an environment of its own and never sees a policy.
"""

from __future__ import annotations

import base64
import json
import math
import pickle
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.errors import PromptPOError
from promptpo.output.film.episodes import trajectory_of
from promptpo.output.film.following import Following
from promptpo.output.film.images import png, smaller, write_video
from promptpo.rollouts.jobs import adopt_all

if TYPE_CHECKING:
    import gymnasium

    from promptpo_sandbox import Episode


def main(request: Path) -> None:
    """Answer one request; whatever goes wrong becomes the sentence in the answer."""
    task, registration, episodes, wanted = pickle.loads(request.read_bytes())  # noqa: S301 - our own file
    try:
        adopt_all(registration)
        answer = _render(task, episodes, wanted)
    except Exception as error:  # noqa: BLE001 - foreign renderers raise anything
        answer = {"error": explained(task, error)}
    wanted["answer"].write_text(json.dumps(answer), encoding="utf-8")


def _render(task: Task, episodes: list[Episode], wanted: dict[str, Any]) -> dict[str, Any]:
    human = wanted["mode"] == "human"
    mode = "human" if human else "rgb_array"
    env = make_env(task, render_mode=mode)
    try:
        _require_mode(task, env, mode)
        fps = float(env.metadata.get("render_fps") or 30)
        if wanted["mode"] == "frames":
            return _pictures(env, episodes[0], fps, wanted)
        found, same, following = [], True, Following(env)
        for episode in episodes:
            whole = list(
                _frames(env, following, episode, lambda _: not human, pause=1 / fps if human else 0.0)
            )
            found += [frame for _, frame, _ in whole]
            same = same and _equal(whole[-1][2], episode.return_)
    finally:
        env.close()
    if not human:
        try:
            write_video(found, fps, wanted["path"])
        except OSError as error:
            raise PromptPOError(f"cannot write {wanted['path']}: {error.strerror or error}.") from error
    return {"same": same}


def _require_mode(task: Task, env: gymnasium.Env[Any, Any], mode: str) -> None:
    if env.render_mode != mode:
        modes = ", ".join(env.metadata.get("render_modes") or ()) or "none"
        raise PromptPOError(
            f'{task.env_id} cannot be rendered: it does not offer render_mode="{mode}" (it offers: {modes}).'
        )


def _frames(
    env: gymnasium.Env[Any, Any],
    following: Following,
    episode: Episode,
    wanted: Callable[[int], bool],
    over: Callable[[], bool] = lambda: False,
    *,
    pause: float = 0.0,
) -> Iterator[tuple[int, Any, float]]:
    """(step, frame, return so far) of the start, of every step that is `wanted`, of the end or where time is `over`.

    With a `pause` of seconds from step to step the environment draws in a window by itself, and frames are None.
    """

    def look() -> Any:
        return None if pause else _upright(env, following)

    env.reset(seed=episode.seed)
    total = 0.0
    yield 0, look(), total
    actions = trajectory_of(episode).actions
    for step, action in enumerate(actions, start=1):
        started = time.monotonic()
        total += float(env.step(action)[1])
        time.sleep(max(0.0, pause - (time.monotonic() - started)))
        ended = over()
        if ended or step == len(actions) or wanted(step):
            yield step, look(), total
        if ended:
            return


def _upright(env: gymnasium.Env[Any, Any], following: Following) -> Any:
    following.move("rgb_array")
    frame: Any = env.render()
    if isinstance(frame, list):
        frame = frame[-1]
    # Meta-World's camera "corner2" hangs upside down.
    return frame[::-1] if getattr(env.unwrapped, "camera_name", None) == "corner2" else frame


def _pictures(
    env: gymnasium.Env[Any, Any], episode: Episode, fps: float, wanted: dict[str, Any]
) -> dict[str, Any]:
    every = max(1, math.ceil(episode.steps / wanted["frames"]))
    started, seconds = time.monotonic(), float(wanted["seconds"])

    def shown(step: int) -> bool:
        """Where rendering is slow, pictures are left out all along the episode and not at its end."""
        return step % every == 0 and time.monotonic() - started <= seconds * step / episode.steps

    def over() -> bool:
        """Where the steps themselves are slow, the rest of the episode is not waited for."""
        return time.monotonic() - started > 1.5 * seconds

    frames, reached, last = [], 0.0, 0
    following = Following(env)
    for step, frame, total in _frames(env, following, episode, shown, over):
        if step == 0:  # the first picture waits for the renderer to start, which is no sign of slow pictures
            started = time.monotonic()
        picture = base64.b64encode(png(smaller(frame, wanted["width"]))).decode()
        frames.append((step, picture, following.place()))
        reached, last = total, step
    whole = last == episode.steps
    same = not whole or _equal(reached, episode.return_)
    return {"frames": frames, "fps": fps, "same": same, "whole": whole}


def _equal(repeated: float, recorded: float) -> bool:
    return math.isclose(repeated, recorded, rel_tol=1e-6, abs_tol=1e-6)


_CURES = {
    "opengl|egl|glfw|osmesa|mujoco_gl|glgeterror": "Set MUJOCO_GL=egl (Debian: apt install libegl1 libegl-mesa0 "
    "libgl1-mesa-dri) or MUJOCO_GL=osmesa (libosmesa6).",
    "could not be built.*render_mode": "Its constructor takes no render_mode.",
    "video device|display|x11": "There is no screen here; write a file with --video instead.",
    "importerror|modulenotfounderror|not installed": "For that a package is missing.",
}
"""What to do about a renderer's error, by a pattern of its words."""


def explained(task: Task, error: Exception) -> str:
    """One sentence about a renderer's error, with its cure where that is known."""
    said = f"{type(error).__name__}: {error}"
    cure = next((cure for words, cure in _CURES.items() if re.search(words, said.lower(), re.DOTALL)), "")
    if isinstance(error, PromptPOError) and not cure:
        return str(error)
    return f"{task.env_id} cannot be rendered ({said.splitlines()[0].rstrip('.')}). {cure}".rstrip()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
