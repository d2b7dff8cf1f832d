"""Environments of a training run with the program beside them: its action is part of what the network sees."""

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
"""Of an environment's infos: the observation as the program wants it."""
FULL = 2.0
"""How far the network may move an action, in half widths of its bounds: from one bound to the other."""
MAX_ANSWER = 1e6
"""Of what a program answers, so that a network's numbers stay finite."""
GUIDED = 0.3
"""Of the range of a random action, what is added to the program's before off-policy training begins."""
SHOWN = (0.0, 0.1, 0.2, 0.4)
"""Noise on the program's actions, in half widths of their bounds, where a network learns from its episodes to act
alone: as it is, and ever further beside, one of them an episode."""


class Flat(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment with vectors as observations; its infos have them as the program wants them, untouched."""

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
        asking_seconds: Wall time spent on asking programs.
        episodes: Episodes begun.
        failures: How many of them lost their program, by kind.
    """

    asking_seconds: float = 0.0
    episodes: int = 0
    failures: dict[str, int] = field(default_factory=dict)


class ProgramEnvs(VecEnvWrapper):
    """Vectorised environments whose observations end with the program's action as numbers.

    One message asks the programs of all environments, in the sandbox. Continuous actions are what the network
    adds to the program's; discrete ones are the network's, which sees the program's choice. A network that acts
    alone sees nothing of the program, which is asked for as long as it is what the network learns from.

    Args:
        envs: The environments.
        prior: The program.
        scale: Of what the network adds.
        off_policy: Whether the algorithm is off-policy: its networks speak from -1 to 1.
        alone: Whether actions are the network's alone.
        allow_weaker: Accept a machine that lacks sandbox layers.

    Attributes:
        tally: What became of the programs.
        asking: Whether the programs are asked.
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
        """End a step; where an episode ended, its last observation has the program's action too."""
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
        """Give lanes fresh programs, and ask those for their first actions."""
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
        """Ask the programs of some lanes; those of the others rest."""
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
        """Note that an episode goes on without its program."""
        self._answers[lane] = 0.0
        self.tally.failures[kind] = self.tally.failures.get(kind, 0) + 1

    def _demonstrate(self, random: np.random.Generator) -> Any:
        """Return the program's action for the next environment, in turn, with its episode's noise."""
        lane, self._next_shown = self._next_shown, (self._next_shown + 1) % self.num_envs
        noise = self._noise[lane] * random.standard_normal(self._size)
        return np.clip(self._answers[lane] + noise, -1.0, 1.0)

    def _near(self, random: np.random.Generator) -> Any:
        """A small addition."""
        return GUIDED * random.uniform(-1.0, 1.0, self._size)

    def _row(self, flat: Any, lane: int) -> Any:
        if self.alone:
            return np.asarray(flat, np.float32)
        return np.concatenate([flat, self._answers[lane]]).astype(np.float32)

    def _unflatten(self, flat: Any) -> Any:
        return np.stack([self._row(flat[i], i) for i in range(self.num_envs)])


class GuidedBox(spaces.Box):
    """Action space of the added network. Its samples, with which off-policy algorithms begin, stay near the program's actions.

    Args:
        reach: Of every number, to both sides.
        size: How many numbers.

    Attributes:
        guide: Gives samples; None in a saved agent, which needs none.
    """

    guide: Any = None

    def __init__(self, reach: float, size: int) -> None:
        super().__init__(-reach, reach, (size,), np.float32)

    def sample(self, *args: Any, **kwargs: Any) -> Any:
        """The next sample of the guide."""
        if self.guide is None:
            return super().sample(*args, **kwargs)
        return self.guide(self.np_random).astype(self.dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return GuidedBox, (float(self.high[0]), int(self.shape[0]))


class NormalizedAround(VecNormalize):
    """Normalises observations with running statistics, but for the program's action at their end."""

    kept: int = 0

    def _normalize_obs(self, obs: Any, obs_rms: Any) -> Any:
        normal = super()._normalize_obs(obs, obs_rms)
        if self.kept:
            normal[..., -self.kept :] = obs[..., -self.kept :]
        return normal
