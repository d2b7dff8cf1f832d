"""Policy files as objects with stable-baselines3's ``predict``; the policy itself runs in the sandbox."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import gymnasium
import numpy as np
from gymnasium.vector.utils import batch_space, iterate

from promptpo.envs.objects import EnvLike
from promptpo.envs.objects import task_of as task_named
from promptpo.envs.spaces import at, leaves
from promptpo.envs.task import Task
from promptpo.errors import PolicyFailedError as PolicyFailedError  # noqa: PLC0414 - still importable from here
from promptpo.files import StrPath, read_text
from promptpo.output.exporting import policy_part
from promptpo.output.policy_file import file_and_task
from promptpo.program import Program

if TYPE_CHECKING:
    from promptpo_sandbox import Failure, Limits, Sandbox
    from promptpo_sandbox.lockstep.asking import AskedPolicies

State = tuple[int, ...]
"""Returned by `predict` and passed to its next call: the number of each lane's episode."""


def load_policy(
    policy: StrPath,
    env_id: EnvLike | Task | None = None,
    *,
    allow_weaker_sandbox: bool = False,
    trust: bool = False,
) -> SandboxedPolicy:
    """Load a policy file, ready to act, in the sandbox.

    ```python
    from stable_baselines3.common.evaluation import evaluate_policy

    with promptpo.load_policy("best.py") as policy:
        mean, deviation = evaluate_policy(policy, gymnasium.make("CartPole-v1"))
    ```

    Args:
        policy: An exported file, a bare policy module, or a run directory (which means its best).
        env_id: The environment whose spaces the policy is for, in any form that `optimize` takes, or a whole task; an
            exported file names it itself, families of variants and wrappers included.
        allow_weaker_sandbox: Accept a machine that lacks sandbox layers.
        trust: Build the environment that the file names, whatever it is. Otherwise only Gymnasium's own are built, and
            those of runs that were made here.

    Raises:
        UsageError: The file cannot be read, no environment is known, or it is not trusted.
    """
    from promptpo.envs.building import make_env

    given = env_id if isinstance(env_id, Task | None) else task_named(env_id)
    path, task = file_and_task(policy, given, trust=trust)
    env = make_env(task)
    try:
        spaces = env.observation_space, env.action_space
    finally:
        env.close()
    return SandboxedPolicy(policy_part(read_text(path)), *spaces, allow_weaker_sandbox=allow_weaker_sandbox)


class SandboxedPolicy:
    """A policy that runs in the sandbox and acts by ``predict``; use it as a context manager.

    Args:
        source: The policy module.
        observation_space: Space of observations.
        action_space: Space of actions; continuous ones are clipped to its bounds.
        limits: Its resource limits; by default one second for each step.
        allow_weaker_sandbox: Accept a machine that lacks sandbox layers.
    """

    def __init__(
        self,
        source: str,
        observation_space: gymnasium.Space[Any],
        action_space: gymnasium.Space[Any],
        *,
        limits: Limits | None = None,
        allow_weaker_sandbox: bool = False,
    ) -> None:
        from promptpo_sandbox import Sandbox

        self.source = source
        self.observation_space, self.action_space = observation_space, action_space
        box = Sandbox(limits, allow_weaker=allow_weaker_sandbox)
        self._policies = box.open_policies(source, observation_space, action_space)
        self._params: Mapping[str, float] | None = None
        self._episodes = itertools.count(1)
        self._lanes: dict[int, tuple[int, int]] = {}  # episode and steps in it, by lane
        self.close = weakref.finalize(self, _close, self._policies, box)
        """End the sandbox; calling it twice is harmless."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"SandboxedPolicy({self.observation_space} -> {self.action_space})"

    def predict(
        self,
        observation: Any,
        state: State | None = None,
        episode_start: Any = None,
        deterministic: bool = True,
    ) -> tuple[Any, State]:
        """Return the action for one observation, or the actions for a batch of them.

        Args:
            observation: One observation, or a batch with a leading axis (a dict of arrays for Dict spaces).
            state: The state that the previous call returned. None begins new episodes, so a policy with memory needs
                it.
            episode_start: For a batch: true where a new episode begins.
            deterministic: Accepted for compatibility; the policy's own seed determines its random numbers.

        Returns:
            (action, state); the action is a batch if the observation is one.

        Raises:
            PolicyFailedError: The policy raised an exception, was too slow, or returned an invalid action.
            ValueError: The state is not that of the previous call.
        """
        from promptpo_sandbox import Failure

        del deterministic
        single = _is_single(self.observation_space, observation)
        observations = dict(
            enumerate([observation] if single else iterate(batch_space(self.observation_space), observation))
        )
        self._begin(self._starting(len(observations), state, episode_start))
        self._policies.stop([lane for lane in self._policies.running if lane not in observations])
        answers = self._policies.act(observations)
        failed = {lane: found for lane, found in answers.items() if isinstance(found, Failure)}
        self._end({lane: replace(found, step=self._lanes[lane][1]) for lane, found in failed.items()})
        self._lanes = {lane: (self._lanes[lane][0], self._lanes[lane][1] + 1) for lane in observations}
        actions = [answers[lane] for lane in observations]
        return (actions[0] if single else self._batch(actions)), self._state(len(actions))

    def _state(self, n: int) -> State:
        return tuple(self._lanes.get(lane, (0, 0))[0] for lane in range(n))

    def _begin(self, lanes: list[int]) -> None:
        """Start fresh policies in lanes, for their next episodes."""
        from promptpo_sandbox import Trial

        if self._params is None:
            self._params = Program.from_source(self.source).values
        self._lanes |= {lane: (next(self._episodes), 0) for lane in lanes}
        self._end(self._policies.start({lane: Trial(self._lanes[lane][0], self._params) for lane in lanes}))

    def _end(self, failed: Mapping[int, Failure]) -> None:
        """Drop these lanes, whose episodes are over, and raise the first failure."""
        for lane in failed:
            del self._lanes[lane]
        if failed:
            raise PolicyFailedError(failed[min(failed)])

    def _batch(self, actions: list[Any]) -> Any:
        """Return the actions of several lanes: an array for spaces of arrays or numbers, else a list."""
        spaces = gymnasium.spaces
        stacks = spaces.Box | spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary
        return np.asarray(actions) if isinstance(self.action_space, stacks) else actions

    def _starting(self, n: int, state: State | None, episode_start: Any) -> list[int]:
        """Return the lanes in which an episode begins."""
        if state is None:
            return list(range(n))
        if self._state(n) != tuple(state):
            raise ValueError("state must be what the previous call of predict returned")
        return [] if episode_start is None else np.flatnonzero(np.atleast_1d(episode_start)).tolist()


def _close(policies: AskedPolicies, box: Sandbox) -> None:
    policies.close()
    box.close()


def _is_single(space: gymnasium.Space[Any], observation: Any) -> bool:
    """Whether a value is one observation rather than a batch."""
    path, leaf = next(leaves(space), ((), gymnasium.spaces.Dict()))
    value = at(observation, path)
    if isinstance(leaf, gymnasium.spaces.Text):
        return isinstance(value, str)
    return leaf.shape is None or np.ndim(value) == len(leaf.shape)
