"""Environments of a training run together with the program, whose action is part of the network's observation."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecNormalize
from stable_baselines3.common.vec_env.base_vec_env import VecEnvWrapper

from promptpo_baselines.environments import AnyEnv, vector
from promptpo_baselines.refine.programs import Prior
from promptpo_baselines.refine.shapes import flat_size
from promptpo_sandbox import Failure, Limits, Sandbox, Trial

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from stable_baselines3.common.vec_env import VecEnv
    from stable_baselines3.common.vec_env.base_vec_env import VecEnvStepReturn

SEEN = "seen"
"""Key in ``info`` of the observation that the program receives."""
FULL = 2.0
"""Maximum change of an action by the network, in half widths of its bounds: from one bound to the other."""
MAX_ANSWER = 1e6
"""Maximum magnitude of a program's answer, so that a network's numbers stay finite."""
GUIDED = 0.3
"""Fraction of a random action's range that is added to the program's action before off-policy training begins."""
SHOWN = (0.0, 0.1, 0.2, 0.4)
"""Noise on the program's actions, in half widths of their bounds, while a standalone network learns from its episodes:
from none to strong, one value per episode."""


class Flat(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment with vectors as observations; ``info`` holds the original ones for the program."""

    def __init__(self, env: AnyEnv) -> None:
        super().__init__(env)
        self._raw = env.observation_space
        size = flat_size(self._raw, str(env.spec.id if env.spec else env))
        self.observation_space = spaces.Box(-np.inf, np.inf, (size,), np.float32)

    def reset(self, **how: Any) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        return self._flat(*self.env.reset(**how))

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take a step."""
        seen, reward, terminated, truncated, info = self.env.step(action)
        flat, info = self._flat(seen, info)
        return flat, reward, terminated, truncated, info

    def _flat(self, seen: Any, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        return vector(self._raw, seen).astype(np.float32), {**info, SEEN: seen}


@dataclass
class ProgramTally:
    """Counts of a program's answers and failures over a run.

    Attributes:
        asking_seconds: Wall time of querying programs.
        episodes: Episodes begun.
        failures: Number of episodes that lost their program, by kind of failure.
    """

    asking_seconds: float = 0.0
    episodes: int = 0
    failures: dict[str, int] = field(default_factory=dict)


class ProgramEnvs(VecEnvWrapper):
    """Vectorised environments whose observations end with the program's action as numbers.

    One message queries the programs of all environments, in the sandbox. Continuous actions are what the network adds
    to the program's; discrete ones are the network's, which sees the program's choice. A standalone network sees
    nothing of the program, which is queried only while the network learns from it.

    Args:
        envs: The environments.
        prior: The program.
        scale: Scale of what the network adds.
        off_policy: Whether the algorithm is off-policy, so that its networks' outputs are in [-1, 1].
        alone: Whether the network acts alone.
        allow_weaker: Accept a machine that lacks sandbox layers.

    Attributes:
        tally: Counts of the programs' answers and failures.
        asking: Whether the programs are queried.
    """

    def __init__(
        self,
        envs: VecEnv,
        prior: Prior,
        *,
        scale: float,
        off_policy: bool,
        alone: bool = False,
        allow_weaker: bool = False,
    ) -> None:
        self.scale, self.alone = scale, alone
        self._actions, self._size = prior.actions, prior.actions.size
        inputs = int(envs.observation_space.shape[0]) + (0 if alone else self._size)  # type: ignore[index]
        action_space: Any = prior.action_space
        if self._actions.continuous:
            action_space = GuidedBox(1.0 if off_policy else FULL / scale, self._size)
            action_space.guide = self._demonstrate if alone else self._near
        super().__init__(envs, spaces.Box(-np.inf, np.inf, (inputs,), np.float32), action_space)
        self.tally = ProgramTally()
        self.asking = True
        self._noise = np.zeros(envs.num_envs)
        self._next_shown = 0
        self._box = Sandbox(Limits(), allow_weaker=allow_weaker, core=-1)
        self._asked = self._box.open_policies(prior.training_source, prior.asked_space, prior.answer_space)
        self._params = prior.program.values
        self._answers = np.zeros((envs.num_envs, self._size))

    def reset(self) -> Any:
        """Start an episode in every environment."""
        flat = self.venv.reset()
        self._begin(range(self.num_envs))
        return self._unflatten(flat)

    def step_async(self, actions: Any) -> None:
        """Begin a step."""
        self._next_shown = 0
        if self._actions.continuous:
            prior = np.zeros_like(actions) if self.alone else self._answers
            actions = self._actions.combine(prior, actions, self.scale)
        self.venv.step_async(actions)

    def step_wait(self) -> VecEnvStepReturn:
        """End a step; the last observation of an episode includes the program's action, too."""
        flat, rewards, dones, infos = self.venv.step_wait()
        ended = np.flatnonzero(dones).tolist()
        self._ask(range(self.num_envs), infos)
        for i in ended:
            infos[i]["terminal_observation"] = self._row(infos[i]["terminal_observation"], i)
        if ended:
            self._begin(ended)
        return self._unflatten(flat), rewards, dones, infos

    def close(self) -> None:
        """End the sandbox and close the environments."""
        self._asked.close()
        self._box.close()
        super().close()

    def _begin(self, lanes: Iterable[int]) -> None:
        """Give lanes fresh programs, and query those for their first actions."""
        if not self.asking:
            return
        began = time.perf_counter()
        trials = {lane: Trial(self.tally.episodes + n, self._params) for n, lane in enumerate(lanes)}
        self.tally.episodes += len(trials)
        for lane, failure in self._asked.start(trials).items():
            self._lose(lane, failure.kind)
        for lane in trials:
            self._answers[lane] = 0.0
            self._noise[lane] = self.action_space.np_random.choice(SHOWN)
        self.tally.asking_seconds += time.perf_counter() - began
        self._ask(lanes, self.venv.reset_infos)

    def _ask(self, acting: Iterable[int], infos: Sequence[Mapping[str, Any]]) -> None:
        """Query the programs of some lanes; the others do not act."""
        if not self.asking:
            return
        began = time.perf_counter()
        chosen = set(acting)
        messages = {lane: (int(lane in chosen), infos[lane][SEEN]) for lane in self._asked.running}
        for lane, answer in self._asked.act(messages).items():
            if isinstance(answer, Failure):
                self._lose(lane, answer.kind)
            else:
                self._answers[lane] = np.clip(answer, -MAX_ANSWER, MAX_ANSWER)
        self.tally.asking_seconds += time.perf_counter() - began

    def _lose(self, lane: int, kind: str) -> None:
        """Record that an episode continues without its program."""
        self._answers[lane] = 0.0
        self.tally.failures[kind] = self.tally.failures.get(kind, 0) + 1

    def _demonstrate(self, random: np.random.Generator) -> Any:
        """Return the program's action for the next environment, in turn, with its episode's noise."""
        lane, self._next_shown = self._next_shown, (self._next_shown + 1) % self.num_envs
        noise = self._noise[lane] * random.standard_normal(self._size)
        return np.clip(self._answers[lane] + noise, -1.0, 1.0)

    def _near(self, random: np.random.Generator) -> Any:
        """Return a small addition."""
        return GUIDED * random.uniform(-1.0, 1.0, self._size)

    def _row(self, flat: Any, lane: int) -> Any:
        if self.alone:
            return np.asarray(flat, np.float32)
        return np.concatenate([flat, self._answers[lane]]).astype(np.float32)

    def _unflatten(self, flat: Any) -> Any:
        return np.stack([self._row(flat[i], i) for i in range(self.num_envs)])


class GuidedBox(spaces.Box):
    """Action space of a network with a program: samples, with which off-policy algorithms begin, stay near the program's.

    Args:
        reach: Maximum magnitude of every number.
        size: Number of numbers.

    Attributes:
        guide: Returns samples; None in a saved agent, which needs none.
    """

    guide: Any = None

    def __init__(self, reach: float, size: int) -> None:
        super().__init__(-reach, reach, (size,), np.float32)

    def sample(self, *args: Any, **kwargs: Any) -> Any:
        """Return the next sample of the guide."""
        if self.guide is None:
            return super().sample(*args, **kwargs)
        return self.guide(self.np_random).astype(self.dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return GuidedBox, (float(self.high[0]), int(self.shape[0]))


class NormalizedAround(VecNormalize):
    """Normalises observations with running statistics, except for the program's action at their end."""

    kept: int = 0

    def _normalize_obs(self, obs: Any, obs_rms: Any) -> Any:
        normal = super()._normalize_obs(obs, obs_rms)
        if self.kept:
            normal[..., -self.kept :] = obs[..., -self.kept :]
        return normal
