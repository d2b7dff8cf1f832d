"""Make Meta-World, whose ``reset`` ignores its seed, repeatable by seed.

Meta-World draws the goals of a task when it is built, 50 for each build seed, and picks one of them at
random in every episode. Here the episode seed picks both: episode seed ``s`` plays goal ``s % 50`` of
the 50 goals of build seed ``s // 50``. Every episode seed thus has its own goal, drawn from the
benchmark's distribution, and the training, validation and test seeds of `promptpo.core.candidate.Seeds`
(0 to 10, 10 to 20 and 20 to 30 million) never share a goal. Build seed 0 gives the usual list of goals.
"""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.wrappers import OrderEnforcing, TimeLimit

from promptpo.errors import UnknownEnvironmentError, UsageError, suggest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from promptpo.envs.task import Task

NAMESPACE = "Meta-World/"
GOALS_PER_BUILD_SEED = 50
GOAL = slice(36, 39)
"""Position of the goal in the observation."""


def task_name(env_id: str, env_kwargs: Mapping[str, Any]) -> str | None:
    """Return the Meta-World task of an id, for example "reach-v3"; None if another package registers the id.

    Raises:
        UsageError: The id is "Meta-World/MT1" without the name of a task, or a benchmark of several tasks.
    """
    name = env_id.removeprefix("metaworld:")
    if name == f"{NAMESPACE}MT1":
        if "env_name" not in env_kwargs:
            raise UsageError("Meta-World/MT1 needs the name of a task; write it as Meta-World/reach-v3.")
        return str(env_kwargs["env_name"])
    if name.startswith(NAMESPACE):
        if name.removeprefix(NAMESPACE)[:2] in {"MT", "ML"} or "custom" in name:
            raise UsageError(
                f"{name} is a benchmark of several tasks; name one of them: Meta-World/reach-v3."
            )
        return name.removeprefix(NAMESPACE)
    theirs = classes()
    own = name in gymnasium.registry or (theirs and name not in theirs)
    return None if own else name


def make(name: str, task: Task, render_mode: str | None) -> gymnasium.Env[Any, Any]:
    """Build one Meta-World task.

    Raises:
        UnknownEnvironmentError: There is no such task.
        UsageError: The keyword arguments include a seed.
    """
    known = classes()
    if name not in known:
        hint = suggest(name, known, f"it has {', '.join(known)}.")
        raise UnknownEnvironmentError(f"Meta-World has no task {name}; {hint}")
    kwargs = {key: value for key, value in task.env_kwargs.items() if key != "env_name"}
    if "seed" in kwargs:
        raise UsageError(
            "Meta-World's goals are chosen by the episode seed here; leave 'seed' out of the arguments."
        )
    env: gymnasium.Env[Any, Any] = known[name](render_mode=render_mode, **kwargs)
    horizon = min(task.max_episode_steps or env.max_path_length, env.max_path_length)  # type: ignore[attr-defined]
    env.unwrapped.spec = EnvSpec(id=NAMESPACE + name, entry_point="metaworld:MT1", kwargs=kwargs)
    return OrderEnforcing(TimeLimit(SeededGoals(env, name=name), horizon))


class SeededGoals(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Choose the goal of an episode by its seed; a reset without a seed takes the goal after the last one.

    Args:
        env: A bare Meta-World environment.
        name: The name of its task.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], name: str) -> None:
        super().__init__(env)
        self._name = name
        self._seed = -1
        declared = env.observation_space
        goals = env.goal_space  # type: ignore[attr-defined]
        low, high = declared.low.copy(), declared.high.copy()  # type: ignore[attr-defined]
        low[GOAL], high[GOAL] = goals.low, goals.high  # the environment declares them as 0
        self.observation_space = gymnasium.spaces.Box(low, high, dtype=np.float64)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start the episode of a seed."""
        self._seed = self._seed + 1 if seed is None else seed
        build_seed, index = divmod(self._seed, GOALS_PER_BUILD_SEED)
        self.env.unwrapped.set_task(_goals(self._name, build_seed)[index])  # type: ignore[attr-defined]
        return self.env.reset(seed=self._seed, options=options)


@lru_cache(maxsize=64)
def _goals(name: str, build_seed: int) -> Sequence[Any]:
    """Return the 50 goals of a build seed; cached for the process, since this takes about half a second."""
    import metaworld

    goals: Sequence[Any] = metaworld.MT1(name, seed=build_seed).train_tasks  # type: ignore[no-untyped-call]
    return goals


def classes() -> dict[str, Any]:
    """Return the class of every task by name; empty if Meta-World is not installed."""
    if importlib.util.find_spec("metaworld") is None:
        return {}
    import metaworld

    return dict(metaworld.ALL_V3_ENVIRONMENTS)  # type: ignore[attr-defined]
