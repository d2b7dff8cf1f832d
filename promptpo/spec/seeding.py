"""What a seed decides of an episode: all of it, not all of it, or nothing."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from promptpo.envs.building import make_env
from promptpo.envs.family import family_of
from promptpo.envs.patience import BUILDING, patience
from promptpo.spec.observe import LOOKING_SECONDS, MOST_OF_WHOLE, SEEDS, same, steps_of

if TYPE_CHECKING:
    import gymnasium

    from promptpo.envs.task import Task
    from promptpo.spec.observe import Observed, Step


@dataclass(frozen=True, slots=True)
class Seeding:
    """What the seeds of an environment decide.

    Attributes:
        one_episode: They change nothing: the same actions give the same episode.
        steps: Environment steps that it took to find out.
        warnings: A sentence where a seed does not decide an episode, or changes nothing.
    """

    one_episode: bool = False
    steps: int = 0
    warnings: tuple[str, ...] = ()


def seeding_of(env: gymnasium.Env[Any, Any], task: Task, observed: Observed) -> Seeding:
    """What seeds decide, seen by playing again: here, in another instance, and under other seeds.

    Args:
        env: The environment; it is left in the middle of an episode.
        task: What it is made of.
        observed: What a few episodes of it showed.
    """
    compared = "so candidates are compared on different episodes; draw random numbers"
    if not observed.repeats:
        warning = (
            f"{task.name} does not repeat an episode when it is reset with the same seed, {compared} from "
            "self.np_random after super().reset(seed=seed)."
        )
        return Seeding(warnings=(warning,))
    begun = [step for step in observed.steps if step.seed == SEEDS[0]]
    with patience(BUILDING, f"building {task.name}"):
        another = make_env(task)
    try:
        built_alike = _alike(another, SEEDS[0], begun, task.name)
    finally:
        another.close()
    if not built_alike:
        warning = (
            f"two instances of {task.name} play different episodes under the same seed, {compared} in reset, from "
            "self.np_random, and not when it is built."
        )
        return Seeding(steps=len(begun), warnings=(warning,))
    nothing, steps = _changes_nothing(env, observed, begun, task.name)
    warning = (
        f"{task.name}: its seed changes nothing, all episodes of a policy are the same, so only a few are played, and "
        "no test tells how it does elsewhere; name other conditions with --held-out-kwargs."
    )
    return Seeding(nothing, len(begun) + steps, (warning,) if nothing else ())


def _changes_nothing(
    env: gymnasium.Env[Any, Any], observed: Observed, begun: list[Step], name: str
) -> tuple[bool, int]:
    """Whether several seeds give the same whole episode to the same actions, and how many steps it took to see."""
    if not observed.one_start or family_of(env) is not None:
        return False, 0
    taken = len(begun)
    if not _alike(env, SEEDS[1], begun, name):
        return False, taken
    until = time.process_time() + LOOKING_SECONDS
    whole: list[Step] = []
    for step in itertools.islice(steps_of(env, SEEDS[0], name), MOST_OF_WHOLE):
        whole.append(step)
        if time.process_time() > until:
            break
    if not (whole[-1].terminated or whole[-1].truncated) and len(whole) < MOST_OF_WHOLE:
        return False, taken + len(whole)
    return all(_alike(env, seed, whole, name) for seed in SEEDS[1:3]), taken + 3 * len(whole)


def _alike(env: gymnasium.Env[Any, Any], seed: int, steps: list[Step], name: str) -> bool:
    """Whether this seed gives these steps to the actions of the first seed."""
    taken = steps_of(env, seed, name, acting=SEEDS[0])
    return all(same(step, other) for step, other in zip(steps, taken, strict=False))
