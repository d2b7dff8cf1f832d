"""Watching a policy: its episodes run in the sandbox first, then its actions are shown or filmed."""

from __future__ import annotations

import time
from pathlib import Path

from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo.files import StrPath, read_text
from promptpo.output.evaluating import EvaluatedPolicy
from promptpo.output.exporting import policy_part
from promptpo.output.film import record, show, write_video
from promptpo.rollouts import evaluation_of

VIDEOS = (".gif", ".mp4")


def play(
    policy: StrPath,
    task: Task,
    *,
    video: StrPath | None = None,
    human: bool = False,
    episodes: int = 1,
    seed: int = 0,
    allow_weaker_sandbox: bool = False,
) -> EvaluatedPolicy:
    """Run a policy file in the sandbox and show its episodes in a window or write them as a video.

    The policy and the renderer never meet: the policy's actions are recorded, then repeated in an environment that
    another process renders.

    Args:
        policy: An exported file or a bare policy module.
        task: The environment.
        video: A .gif or .mp4 file to write.
        human: Show a window.
        episodes: Number of episodes.
        seed: Seed of the first episode; later ones count up.
        allow_weaker_sandbox: Accept a machine that lacks sandbox layers.

    Raises:
        UsageError: The file cannot be read, or the name of the video has another suffix.
        RenderingError: The environment cannot be rendered here; the message says what is missing.
        EnvironmentFaultError: The environment failed.
    """
    path = Path(policy)
    source = policy_part(read_text(path))
    file = Path(video) if video is not None else None
    if file is not None and file.suffix.lower() not in VIDEOS:
        raise UsageError(f"a video is written as .gif or .mp4, not as {file.name}.")
    if episodes < 1:
        raise UsageError(f"episodes must be at least 1, not {episodes}.")
    seeds, started = range(seed, seed + episodes), time.monotonic()
    rollout = record(task, source, seeds, horizon=task.max_episode_steps, allow_weaker=allow_weaker_sandbox)
    finished = [episode for episode in rollout.episodes if episode.failure is None]
    same = True
    if finished and file is not None:
        if file.is_symlink():  # it is replaced, not followed
            file.unlink()
        same = write_video(task, finished, file)
    if finished and human:
        same = show(task, finished) and same
    seconds = time.monotonic() - started
    return EvaluatedPolicy(task, evaluation_of(rollout), seconds, file if finished else None, same)
