"""The host's side of simulators: requests to one, and checks of its answers.

A simulator is untrusted code like a policy. It runs behind the same gate and in the same kind of confined process,
with limits of its own; policies that act in it share that process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import gymnasium
import numpy as np
from gymnasium import spaces

from promptpo_sandbox.answers import read_arrays, read_facts, read_text
from promptpo_sandbox.asked import Asked, AskFailedError
from promptpo_sandbox.guest import mechanism
from promptpo_sandbox.guest.trials import LANES
from promptpo_sandbox.pipes import read_failure
from promptpo_sandbox.results import Episode, Failure, Limits
from promptpo_sandbox.seeds import digest_of
from promptpo_sandbox.spaces import layout_of

if TYPE_CHECKING:
    from promptpo_sandbox.box import Sandbox

Array = np.ndarray[Any, Any]
Vector = Mapping[str, float]

CALL_SECONDS = 120.0
"""CPU time of one request."""

PLAY_SECONDS, MAX_PLAY_SECONDS = 60.0, 300.0
"""CPU time of playing in one request, well below `CALL_SECONDS`, and in all requests for the same episodes. Episodes
that take longer have failed, since part of one says nothing about the whole. Wall time would let other work decide."""

MEMORY_BYTES, MESSAGE_BYTES = 2 << 30, 256 << 20

MAX_ANSWER_VALUES = 4096
"""Maximum number of values in one answer; an array counts as one."""


ACTING = {"play", "resume", "compare"}
"""Requests in which a policy acts. It shares the simulator's process, so that the host cannot tell which of them hung or
ended it."""


class SimulatorFailedError(AskFailedError):
    """A simulator failed, or a policy that acted in it hung or ended its process."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The steps of one episode: T actions and T + 1 observations.

    Attributes:
        observations: Array of T + 1 rows.
        actions: Array of T rows.
        rewards: Array of T numbers.
        terminated: Whether the last step ended the episode.
    """

    observations: Array
    actions: Array
    rewards: Array
    terminated: bool

    def __len__(self) -> int:
        return len(self.rewards)


@dataclass(frozen=True, slots=True)
class Simulated:
    """A simulator to load in a guest.

    Attributes:
        source: The module with ``class Simulator``.
        vectors: Values of its ``PARAMS``; several form an ensemble, whose members take turns over the lanes. Empty if
            it declares none.
        observation_space: Observation space of the task.
        action_space: Action space of the task.
    """

    source: str
    vectors: tuple[Vector, ...]
    observation_space: gymnasium.Space[Any]
    action_space: gymnasium.Space[Any]


@dataclass(frozen=True, slots=True)
class LanePlay:
    """A request for episodes of a policy in a simulator.

    Attributes:
        policy: The module.
        vectors: B parameter vectors; None for a policy without parameters.
        lanes: Episodes of each vector.
        horizon: Maximum length of an episode, in steps.
        together: Whether the policy acts in lanes; see `SimulatorGuest.why_alone`.
        seed: Seed of initial states and all other random numbers.
        record: Number of lanes whose trajectories are returned.
        bonus: Subtracted from the reward of each step.
    """

    policy: str
    vectors: Sequence[Vector | None]
    lanes: int
    horizon: int
    together: bool
    seed: int = 0
    record: int = 0
    bonus: float = 0.0


@dataclass(frozen=True, slots=True)
class LanesPlayed:
    """Episodes of a policy in a simulator, B parameter vectors in L lanes each.

    Attributes:
        returns: B rows of L; minus infinity where the policy failed or took too long.
        lengths: Steps of each episode.
        terminated: Whether the simulator ended the episode.
        episodes: Trajectories of the first lanes, as many as were requested.
        acting_seconds: CPU time of the policy, its construction included.
        failure: The policy's first failure, if any.
    """

    returns: Array
    lengths: Array
    terminated: Array
    episodes: tuple[Recorded, ...]
    acting_seconds: float
    failure: Failure | None


def why_unsupported(space: gymnasium.Space[Any]) -> str:
    """Return why values of a space cannot be held in lanes; empty if they can."""
    kinds = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)
    if isinstance(space, kinds):
        return ""
    return f"a {type(space).__name__} space is not a list of numbers"


def record_episode(
    observation_space: gymnasium.Space[Any], action_space: gymnasium.Space[Any], episode: Episode
) -> Recorded | None:
    """Return the steps of an episode; None without a trajectory of observations, or if they do not fit their spaces."""
    trajectory = episode.trajectory
    if trajectory is None or not len(trajectory.rewards) or trajectory.perceived:
        return None
    try:
        seen = np.array([np.asarray(obs) for obs in trajectory.observations])
        done = np.array([np.asarray(action) for action in trajectory.actions])
        rewards = np.asarray(trajectory.rewards, float)
    except (ValueError, TypeError):
        return None
    fits = seen.shape[1:] == (observation_space.shape or ()) and done.shape[1:] == (action_space.shape or ())
    if not fits or seen.dtype.kind not in "biuf" or done.dtype.kind not in "biuf":
        return None
    return Recorded(seen, done, rewards, episode.terminated)


def simulator_limits(limits: Limits) -> Limits:
    """Return the limits of a simulator, which has more time, memory and room for messages than a policy."""
    return replace(
        limits,
        call_seconds=max(limits.call_seconds, CALL_SECONDS),
        memory_bytes=max(limits.memory_bytes, MEMORY_BYTES),
        message_bytes=MESSAGE_BYTES,
    )


class SimulatorGuest:
    """A confined process that holds one simulator and the policies that act in it; a context manager.

    Args:
        sandbox: Its layers and limits apply here, too.
        simulated: The simulator.
        seed: Seed of all random numbers.

    Raises:
        SimulatorFailedError: The source is rejected.
    """

    def __init__(self, sandbox: Sandbox, simulated: Simulated, seed: int = 0) -> None:
        self.simulated, self.seed = simulated, seed
        engine = {mechanism.MODULE: ""} if "mechanism" in simulated.source else None
        self._box = sandbox.beside(simulator_limits(sandbox.limits), engine)
        self._limits = self._box.limits
        try:
            self._asked: Asked = self._box.asking(
                simulated.source,
                "the simulator",
                "; return (obs, reward, terminated) instead",
                SimulatorFailedError,
            )
        except BaseException:
            self._box.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._asked.close()
        self._box.close()

    def _request(self, seed: int, **more: Any) -> dict[str, Any]:
        simulated = self.simulated
        layouts = layout_of(simulated.observation_space), layout_of(simulated.action_space)
        vectors: list[dict[str, float] | None] = [dict(vector) for vector in simulated.vectors]
        return {
            "digest": digest_of(self.seed + seed),
            "layouts": layouts,
            "vectors": vectors or [None],
            **more,
        }

    def _ask(self, what: str, request: dict[str, Any], taken: Any) -> Any:
        self._asked.name = "the policy or the simulator it acts in" if what in ACTING else "the simulator"
        return self._asked.ask("simulate", (what, request), taken, values=MAX_ANSWER_VALUES)

    def examine(self, starts: Array, actions: Array, seed: int = 0) -> dict[str, Any]:
        """Return facts about the simulator; see `promptpo_sandbox.guest.trials`.

        Raises:
            SimulatorFailedError: It failed.
        """
        initial = (LANES, *starts.shape[1:])
        found: dict[str, Any] = self._ask(
            "examine",
            self._request(seed, starts=starts, actions=actions),
            lambda answer: read_facts(answer, initial),
        )
        return found

    def predict(
        self,
        vectors: Sequence[Vector | None],
        starts: Array,
        actions: Array,
        ahead: Sequence[int],
        repeat: int = 1,
        seed: int = 0,
    ) -> tuple[Array, Array, Array]:
        """Predict windows of steps, all of them as lanes, with each of P vectors.

        Args:
            vectors: Values of ``PARAMS``.
            starts: W observations.
            actions: H rows of W actions.
            ahead: K numbers of steps to predict ahead, at most H.
            repeat: Lanes per window, whose mean is returned.
            seed: Seed of the random numbers, the same for all vectors.

        Returns:
            Observations (P, K, W, …); sums of rewards and fractions of ended lanes (P, K, W).

        Raises:
            SimulatorFailedError: The simulator failed.
        """
        steps = max(ahead)
        more = {"starts": starts, "actions": actions[:steps], "ahead": sorted(ahead), "repeat": repeat}
        ends = (1, len(ahead), len(starts))
        shapes = [(*ends, *starts.shape[1:]), ends, ends]
        found: list[tuple[Array, ...]] = []
        for vector in vectors:
            request = self._request(seed, **more) | {"vectors": [None if vector is None else dict(vector)]}
            found.append(self._ask("predict", request, lambda answer: read_arrays(answer, shapes)))
        observations, rewards, ended = (np.concatenate(part) for part in zip(*found, strict=True))
        return observations, rewards, ended

    def why_alone(self, policy: str, trials: Sequence[Vector | None]) -> str:
        """Return why a policy cannot act in lanes; empty if it acts there exactly as separate copies do.

        Args:
            policy: The module.
            trials: Parameters of a few lanes.
        """
        more = {"policy": policy, "trials": [None if trial is None else dict(trial) for trial in trials]}
        found: str = self._ask(
            "compare", self._request(0, **more, source_bytes=self._limits.source_bytes), read_text
        )
        return found

    def play(self, play: LanePlay) -> LanesPlayed:
        """Play episodes of a policy, each to its end.

        Raises:
            SimulatorFailedError: The simulator failed.
        """
        vectors = play.vectors
        names = None if vectors[0] is None else list(vectors[0])
        table = np.zeros((len(vectors), 0))
        if names is not None:
            table = np.array([[vector[name] for name in names] for vector in vectors if vector is not None])
        fields = ("policy", "lanes", "horizon", "together", "record", "bonus")
        request = self._request(play.seed, **{name: getattr(play, name) for name in fields}) | {
            "names": names,
            "table": table,
            "question_seconds": PLAY_SECONDS,
            "seconds": MAX_PLAY_SECONDS,
            "source_bytes": self._limits.source_bytes,
        }
        what = "play"
        for _ in range(2 + int(MAX_PLAY_SECONDS / PLAY_SECONDS)):
            found: LanesPlayed | None = self._ask(
                what,
                request,
                lambda answer: None if answer is None else self._read_played(answer, play),
            )
            if found is not None:
                return found
            what, request = "resume", {}
        raise SimulatorFailedError(Failure("timeout", "the simulator never ended its episodes"))

    def _read_played(self, answer: Any, play: LanePlay) -> LanesPlayed:
        """Check the guest's `LaneEpisodes.result`, which has a failure alone if the policy could not be made.

        Raises:
            ValueError: It is malformed; taking it apart may raise other errors.
        """
        failure = None if answer["failure"] is None else Failure(*read_failure(answer["failure"]))
        shape, n = (len(play.vectors), play.lanes), len(play.vectors) * play.lanes
        if "returns" not in answer:
            nothing = np.zeros(shape)
            return LanesPlayed(nothing - np.inf, nothing, nothing != 0, (), 0.0, failure)
        if answer["cut"] and failure is None:
            failure = Failure(
                "timeout", f"its episodes took longer than {MAX_PLAY_SECONDS:g} s; do less work"
            )
        numbers = [answer[name] for name in ("returns", "lengths", "terminated", "sound")]
        returns, lengths, ended, sound = read_arrays(numbers, [(n,)] * 4)
        kept, acting = answer["trajectories"], answer["acting_seconds"]
        if not ((lengths >= 0) & (lengths <= play.horizon)).all() or not 0 <= acting < np.inf:
            raise ValueError("malformed answer")
        episodes = () if kept is None else self._read_trajectories(kept, lengths, ended, min(play.record, n))
        outcome = np.where(sound, returns, -np.inf), lengths, ended != 0
        returns, lengths, terminated = (part.reshape(shape) for part in outcome)
        return LanesPlayed(returns, lengths, terminated, episodes, acting, failure)

    def _read_trajectories(self, kept: Any, lengths: Array, ended: Array, count: int) -> tuple[Recorded, ...]:
        """Check the trajectories of the first lanes: T + 1 observations, T actions and T rewards of each."""
        rows = (len(kept[2]), count)
        observed, acted = self.simulated.observation_space.shape, self.simulated.action_space.shape
        shapes = [(rows[0] + 1, count, *(observed or ())), (*rows, *(acted or ())), rows]
        observations, actions, rewards = read_arrays(kept, shapes, finite=False)
        return tuple(
            Recorded(
                observations[: length + 1, lane],
                actions[:length, lane],
                rewards[:length, lane],
                bool(ended[lane]),
            )
            for lane, length in enumerate(lengths[:count].astype(int))
        )

    def start(self, lanes: int, horizon: int, seed: int = 0) -> Array:
        """Start lanes that restart by themselves when their episodes end; return their observations.

        Raises:
            SimulatorFailedError: The simulator failed.
        """
        shape = (lanes, *(self.simulated.observation_space.shape or ()))
        request = self._request(seed, lanes=lanes, horizon=horizon)
        (found,) = self._ask("start", request, lambda answer: read_arrays((answer,), [shape]))
        return np.asarray(found)

    def advance(self, actions: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Advance all started lanes by one step.

        Returns:
            Observations before and after restarts, rewards, terminated, truncated.

        Raises:
            SimulatorFailedError: The simulator failed.
        """
        n = len(actions)
        rows = (n, *(self.simulated.observation_space.shape or ()))
        shapes = [rows, rows, (n,), (n,), (n,)]
        before, after, reward, terminated, truncated = self._ask(
            "advance", {"actions": actions}, lambda answer: read_arrays(answer, shapes)
        )
        return before, after, reward, terminated != 0, truncated != 0
