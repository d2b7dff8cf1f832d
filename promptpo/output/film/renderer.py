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
from promptpo.output.film.following import follow
from promptpo.output.film.images import png, smaller, write_video
from promptpo.rollouts.jobs import adopt_all

if TYPE_CHECKING:
    import gymnasium

    from promptpo_sandbox import Episode


def main(request: Path) -> None:
    """Answer one request; any error becomes the sentence in the answer."""
    task, registration, episodes, wanted = pickle.loads(request.read_bytes())  # noqa: S301 - our own file
    try:
        adopt_all(registration)
        answer = _render(task, episodes, wanted)
    except Exception as error:  # noqa: BLE001 - foreign renderers raise anything
        answer = {"error": explain_failure(task, error)}
    wanted["answer"].write_text(json.dumps(answer), encoding="utf-8")


def _render(task: Task, episodes: list[Episode], wanted: dict[str, Any]) -> dict[str, Any]:
    human = wanted["mode"] == "human"
    mode = "human" if human else "rgb_array"
    env = make_env(task, render_mode=mode)
    try:
        if env.render_mode != mode:
            modes = ", ".join(env.metadata.get("render_modes") or ()) or "none"
            raise PromptPOError(
                f'{task.label} cannot be rendered: it does not offer render_mode="{mode}" (it offers: {modes}).'
            )
        env.reset(seed=episodes[0].seed)
        turn = str if human else follow(env)
        fps = float(env.metadata.get("render_fps") or 30)
        if wanted["mode"] == "frames":
            return _pictures(env, episodes[0], turn, wanted) | {"fps": fps}
        found, same = [], True
        for episode in episodes:
            due = time.monotonic()
            for _, reached in _repeat_steps(env, episode):
                last = reached
                if human:  # the environment draws in a window by itself
                    due += 1 / fps
                    time.sleep(max(0.0, due - time.monotonic()))
                else:
                    turn()
                    found.append(_upright(env))
            same = same and _equal(last, episode.return_)
    finally:
        env.close()
    if not human:
        try:
            write_video(found, fps, wanted["path"])
        except OSError as error:
            raise PromptPOError(f"cannot write {wanted['path']}: {error.strerror or error}.") from error
    return {"same": same}


def _repeat_steps(env: gymnasium.Env[Any, Any], episode: Episode) -> Iterator[tuple[int, float]]:
    """Repeat an episode; yield (step, return so far) at its start and after every step."""
    env.reset(seed=episode.seed)
    total = 0.0
    yield 0, total
    for step, action in enumerate(trajectory_of(episode).actions, start=1):
        total += float(env.step(action)[1])
        yield step, total


def _upright(env: gymnasium.Env[Any, Any]) -> Any:
    frame: Any = env.render()
    if isinstance(frame, list):
        frame = frame[-1]
    # Meta-World's camera "corner2" hangs upside down.
    return frame[::-1] if getattr(env.unwrapped, "camera_name", None) == "corner2" else frame


def _pictures(
    env: gymnasium.Env[Any, Any], episode: Episode, turn: Callable[[], str], wanted: dict[str, Any]
) -> dict[str, Any]:
    every, limit = max(1, math.ceil(episode.steps / wanted["frames"])), float(wanted["seconds"])
    frames, started = [], time.monotonic()
    for step, reached in _repeat_steps(env, episode):
        last = step, reached
        spent = time.monotonic() - started
        late = spent > 1.5 * limit  # if the steps themselves are slow, the rest is left out
        # if rendering is slow, pictures are left out throughout the episode and not at its end
        in_time = step % every == 0 and spent * episode.steps <= limit * step
        if step in (0, episode.steps) or late or in_time:
            place = turn()
            picture = base64.b64encode(png(smaller(_upright(env), wanted["width"]))).decode()
            frames.append((step, picture, place))
        if step == 0:  # the first picture waits for the renderer to start, so it says nothing about the speed
            started = time.monotonic()
        elif late:
            break
    whole = last[0] == episode.steps
    return {"frames": frames, "same": not whole or _equal(last[1], episode.return_), "whole": whole}


def _equal(repeated: float, recorded: float) -> bool:
    return math.isclose(repeated, recorded, rel_tol=1e-6, abs_tol=1e-6)


_FIXES = {
    "opengl|egl|glfw|osmesa|mujoco_gl|glgeterror": "Set MUJOCO_GL=egl (Debian: apt install libegl1 libegl-mesa0 "
    "libgl1-mesa-dri) or MUJOCO_GL=osmesa (libosmesa6).",
    "building .*(render_mode|takes no arguments)": 'Its constructor does not accept render_mode="rgb_array".',
    "video device|display|x11": "There is no screen here; write a file with --video instead.",
    "importerror|modulenotfounderror|not installed": "A package for it is missing.",
    "^notimplementederror": "Its method render is not implemented.",
}
"""Advice about a renderer's error, by a pattern of its words."""


def explain_failure(task: Task, error: Exception) -> str:
    """Describe a renderer's error in one sentence, with a fix if one is known."""
    ours = isinstance(error, PromptPOError)
    message = str(error) if ours else f"{type(error).__name__}: {error}".removesuffix(": ")
    fix = next((fix for words, fix in _FIXES.items() if re.search(words, message.lower(), re.DOTALL)), "")
    if ours and not fix:
        return message
    return f"{task.label} cannot be rendered ({message.splitlines()[0].rstrip('.')}). {fix}".rstrip()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
