"""Policy files as objects with stable-baselines3's ``predict``; the policy itself runs in the sandbox.

The sandbox steps environments, while a caller of ``predict`` has its environment elsewhere. So every lane
of a batch has a thread with a sandbox of its own, whose "environment" hands each action to the caller and
waits for the next observation.
"""

from __future__ import annotations

import itertools
import os
import queue
import threading
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import gymnasium
import numpy as np
from gymnasium.vector.utils import batch_space, iterate

from promptpo.envs.objects import EnvLike
from promptpo.envs.objects import task_of as task_named
from promptpo.envs.task import Task
from promptpo.errors import PolicyFailedError as PolicyFailedError  # noqa: PLC0414 - still importable from here
from promptpo.files import read_text
from promptpo.output.exporting import policy_part
from promptpo.output.policy_file import best_of, file_and_task
from promptpo.program import Program

if TYPE_CHECKING:
    from promptpo_sandbox import Failure, Limits

State = tuple[int, ...]
"""What `predict` returns and takes back: the episode that each lane is in."""


def load_policy(
    policy: str | os.PathLike[str],
    env_id: EnvLike | Task | None = None,
    *,
    allow_weaker_sandbox: bool = False,
    trust: bool = False,
) -> SandboxedPolicy:
    """A policy file, ready to act, in the sandbox.

    ```python
    from stable_baselines3.common.evaluation import evaluate_policy

    with promptpo.load_policy("best.py") as policy:
        mean, deviation = evaluate_policy(policy, gymnasium.make("CartPole-v1"))
    ```

    Args:
        policy: An exported file, a bare policy module, or a run directory (which means its best).
        env_id: The environment whose spaces the policy is for, in any form that `optimize` takes, or a whole task; an
            exported file says it itself, families of variants and wrappers included.
        allow_weaker_sandbox: Accept a machine that lacks sandbox layers.
        trust: Build the environment that the file names, whatever it is. Without it that is done for
            Gymnasium's own, and in a run that was made here for the run's.

    Raises:
        UsageError: The file cannot be read, no environment is known, or it is not trusted.
    """
    from promptpo.envs.building import make_env

    path = Path(policy)
    path = best_of(path) if path.is_dir() else path
    given = env_id if isinstance(env_id, Task | None) else task_named(env_id)
    path, task = file_and_task(path, given, trust=trust)
    env = make_env(task)
    try:
        spaces = env.observation_space, env.action_space
    finally:
        env.close()
    return SandboxedPolicy(policy_part(read_text(path)), *spaces, allow_weaker_sandbox=allow_weaker_sandbox)


class SandboxedPolicy:
    """A policy that runs in the sandbox and is asked by ``predict``; use it as a context manager.

    Args:
        source: The policy module.
        observation_space: What it sees.
        action_space: What it returns; continuous actions are clipped into its bounds.
        limits: What it may use; by default one second for each step.
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
        self.source = source
        self.observation_space, self.action_space = observation_space, action_space
        self._limits, self._allow_weaker = limits, allow_weaker_sandbox
        self._lanes: list[_SandboxThread] = []
        self._episodes = itertools.count(1)
        self._finalizer = weakref.finalize(self, _close_all, self._lanes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"SandboxedPolicy({self.observation_space} -> {self.action_space})"

    def close(self) -> None:
        """End the sandboxes; calling it twice is harmless."""
        _close_all(self._lanes)

    def predict(
        self,
        observation: Any,
        state: State | None = None,
        episode_start: Any = None,
        deterministic: bool = True,
    ) -> tuple[Any, State]:
        """The action for one observation, or the actions for a batch of them.

        Args:
            observation: One observation, or a batch with a leading axis (a dict of arrays for Dict spaces).
            state: What the previous call returned. None begins new episodes, so a policy that remembers
                anything needs it.
            episode_start: For a batch: true where a new episode begins.
            deterministic: Accepted for compatibility; what a policy draws is decided by its own seed.

        Returns:
            (action, state); the action is a batch where the observation was one.

        Raises:
            PolicyFailedError: The policy raised, was too slow, or returned no valid action.
            ValueError: The state is not of this policy's last call.
        """
        del deterministic
        single = _is_single(self.observation_space, observation)
        observations = (
            [observation] if single else list(iterate(batch_space(self.observation_space), observation))
        )
        starts = self._starts(len(observations), state, episode_start)
        while len(self._lanes) < len(observations):
            self._lanes.append(_SandboxThread(self, self._limits, self._allow_weaker))
        lanes = self._lanes[: len(observations)]
        for lane, obs, start in zip(lanes, observations, starts, strict=True):
            lane.send(obs, next(self._episodes) if start else None)
        actions = [lane.receive() for lane in lanes]
        now = tuple(lane.episode for lane in lanes)
        return (actions[0] if single else self._batch(actions)), now

    def _batch(self, actions: list[Any]) -> Any:
        """Actions of several lanes: an array where the space has arrays or numbers, else a list."""
        spaces = gymnasium.spaces
        stacks = spaces.Box | spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary
        return np.asarray(actions) if isinstance(self.action_space, stacks) else actions

    def _starts(self, n: int, state: State | None, episode_start: Any) -> list[bool]:
        if state is None:
            return [True] * n
        if tuple(lane.episode for lane in self._lanes[:n]) != tuple(state):
            raise ValueError("state must be what the previous call of predict returned")
        if episode_start is None:
            return [False] * n
        return [bool(start) for start in np.atleast_1d(episode_start)]


def _close_all(lanes: list[_SandboxThread]) -> None:
    for lane in lanes:
        lane.close()
    lanes.clear()


def _is_single(space: gymnasium.Space[Any], observation: Any) -> bool:
    """Whether it is one observation and not a batch."""
    if isinstance(space, gymnasium.spaces.Dict) and space.spaces:
        key, inner = next(iter(space.spaces.items()))
        return _is_single(inner, observation[key])
    if isinstance(space, gymnasium.spaces.Tuple) and space.spaces:
        return _is_single(space.spaces[0], observation[0])
    if isinstance(space, gymnasium.spaces.Text):
        return isinstance(observation, str)
    return space.shape is None or np.ndim(observation) == len(space.shape)


_END, _CLOSE = object(), object()


class _EpisodeOver(Exception):  # noqa: N818 - it is no error
    """The lane is closed or begins another episode."""


class _Bridge(gymnasium.Env[Any, Any]):
    """An environment whose observations come from the caller and whose actions go there."""

    def __init__(self, lane: _SandboxThread, policy: SandboxedPolicy) -> None:
        self._lane = lane
        self.observation_space, self.action_space = policy.observation_space, policy.action_space
        self._last: Any = None

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """The episode's first observation; a sandbox that would run the episode again is stopped."""
        del seed, options
        self._last = self._lane.first()
        return self._last, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Give the action away and wait for what follows."""
        following = self._lane.exchange(action)
        if following is _END:
            return self._last, 0.0, True, False, {}
        self._last = following
        return following, 0.0, False, False, {}


class _SandboxThread:
    """One thread with one sandbox, which runs one episode after the other."""

    def __init__(self, policy: SandboxedPolicy, limits: Limits | None, allow_weaker: bool) -> None:
        self.episode = 0
        self._begun = False
        self._to: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._from: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._first: list[Any] = []
        # No reference to the policy is kept, so that it can be collected and closed.
        bridge = _Bridge(self, policy)
        work = (bridge, policy.source, limits, allow_weaker)
        self._thread = threading.Thread(target=self._serve, args=work, name="policy", daemon=True)
        self._thread.start()

    # The caller's side

    def send(self, observation: Any, new_episode: int | None) -> None:
        """Give the policy an observation; with a number, as the first of a new episode."""
        if new_episode is not None:
            if self._begun:
                self._to.put(_END)
            self.episode, self._begun = new_episode, True
        self._to.put(observation)

    def receive(self) -> Any:
        """The action for the observation that was sent.

        Raises:
            PolicyFailedError: There is none.
        """
        answer = self._from.get()
        if isinstance(answer, BaseException):
            self.episode, self._begun = 0, False
            raise answer
        return answer

    def close(self) -> None:
        """End the thread and its sandbox."""
        if self._begun:
            self._to.put(_END)
            self._begun = False
        self._to.put(_CLOSE)
        self._thread.join(timeout=10.0)

    # The thread's side

    def first(self) -> Any:
        """The observation with which the episode begins; there is one for each episode."""
        if not self._first:
            raise _EpisodeOver
        return self._first.pop()

    def exchange(self, action: Any) -> Any:
        """Hand over an action and wait for the next observation, or for the episode's end."""
        self._from.put(action)
        return self._to.get()

    def _serve(self, bridge: _Bridge, source: str, limits: Limits | None, allow_weaker: bool) -> None:
        from promptpo_sandbox import Limits as SandboxLimits
        from promptpo_sandbox import Sandbox

        # Time passes between calls; only the policy's own steps are limited.
        limits = limits or SandboxLimits(episode_seconds=1e9)
        with Sandbox(limits, allow_weaker=allow_weaker) as box:
            while (observation := self._to.get()) is not _CLOSE:
                self._first[:] = [observation]
                try:
                    failure = self._episode(box, bridge, source)
                except Exception as error:  # noqa: BLE001 - raised in the caller's thread
                    self._from.put(error)
                else:
                    if failure is not None:
                        self._from.put(PolicyFailedError(failure))

    def _episode(self, box: Any, bridge: _Bridge, source: str) -> Failure | None:
        from promptpo_sandbox import Trial

        params = Program.parse(source).values
        rollout = box.rollout(source, [bridge], [Trial(self.episode, params)], clip_actions=True)
        failure: Failure | None = rollout.failure
        return failure
