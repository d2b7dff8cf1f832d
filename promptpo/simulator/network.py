"""Train a small network by PPO in a simulator: a benchmark for programs, a teacher, and a second product.

PPO (Schulman et al., 2017) with many gradient steps per sample, since simulated steps cost more than gradients.
"""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from gymnasium import spaces

from promptpo.rollouts.jobs import SandboxWork
from promptpo.simulator.contract import Simulation, Space
from promptpo.simulator.mlp import Adam, Mlp
from promptpo.simulator.network_source import MAX_OBSERVATION, network_policy, span
from promptpo.simulator.play import ALIVE_STEPS, alive_bonus, standard_error
from promptpo_sandbox.simulators import Array, LanePlay

if TYPE_CHECKING:
    from promptpo_sandbox import Sandbox
    from promptpo_sandbox.simulators import SimulatorGuest


LANES, ROLLOUT_STEPS = 128, 64
"""Lanes, and steps of each lane between updates."""

MINIBATCH, EPOCHS = 512, 6

HIDDEN, MAX_WEIGHTS = 64, 10_000
"""Units of each of two hidden layers, and the limit on weights that reduces them for large observations, so that the
policy's source stays short."""

RATE, MIN_RATE, MAX_RATE, TARGET_KL = 7e-4, 1e-5, 3e-3, 0.03
"""Initial learning rate and its bounds; it adapts to the KL divergence between the old and the new policy."""

DISCOUNT, LAMBDA, CLIP = 0.99, 0.95, 0.2

FIRST_STD = 0.6

MIN_VARIANCE = 1e-8

CHECKED_UPDATES, CHECKED_LANES = 16, 16
"""Updates between evaluations of the deterministic policy in the second half of training, and their episodes. The best
policy is kept, since a late update may ruin it although its sampled actions return as much as before."""

FINAL_LANES = 32

MAX_STATES = 512
"""Largest number of discrete states that are one-hot encoded."""


def trainable(observation_space: Space, action_space: Space) -> str:
    """Return why no network can be trained for a task; empty if one can."""
    if isinstance(observation_space, spaces.Discrete) and observation_space.n > MAX_STATES:
        return f"the observation has {observation_space.n} states"
    if isinstance(action_space, spaces.Discrete | spaces.Box):
        return ""
    return f"actions of a {type(action_space).__name__} space are not trained"


def hidden_units(inputs: int, outputs: int) -> int:
    """Return the units of a hidden layer such that all layers have at most `MAX_WEIGHTS` weights."""
    wide = inputs + outputs
    return min(HIDDEN, int((wide**2 / 4 + MAX_WEIGHTS) ** 0.5 - wide / 2))


@dataclass(frozen=True, slots=True)
class NetworkResult:
    """A trained network.

    Attributes:
        source: The deterministic policy, which needs only numpy.
        value: Its mean simulated return in fresh episodes.
        stderr: Standard error of that mean.
        state: State from which training can continue.
        simulated_steps: Steps of training and evaluation.
    """

    source: str
    value: float
    stderr: float
    state: str
    simulated_steps: int


@dataclass(frozen=True, slots=True)
class TrainNetwork(SandboxWork):
    """A request to train a network in a simulator.

    Attributes:
        simulation: The simulator.
        seed: Seed of all random numbers.
        steps: Simulated steps of training.
        resume: State of an earlier result to continue from; empty for a new network.
    """

    simulation: Simulation
    seed: int
    steps: int
    resume: str = ""

    def run(self, sandbox: Sandbox) -> NetworkResult:
        """See `SandboxWork.run`.

        Raises:
            SimulatorFailedError: The simulator is rejected or fails.
        """
        with self.simulation.open(sandbox, self.seed) as guest:
            agent = _Ppo(self, guest)
            agent.train()
            returns = agent.play(FINAL_LANES, 10**6 + self.seed)
        return NetworkResult(
            agent.policy(),
            float(returns.mean()),
            standard_error(returns),
            agent.state(),
            agent.steps,
        )


class _Normaliser:
    """Running mean and variance, updated in place."""

    def __init__(self, size: int) -> None:
        self.mean, self.variance, self.count = np.zeros(size), np.zeros(size), np.zeros(1)

    def update(self, rows: Array) -> None:
        rows = rows.astype(float)
        mean, variance, count = rows.mean(axis=0), rows.var(axis=0), len(rows)
        total, apart = self.count + count, mean - self.mean
        self.variance *= self.count / total
        self.variance += variance * count / total + apart**2 * self.count * count / total**2
        self.mean += apart * count / total
        self.count += count

    @property
    def scale(self) -> Array:
        """The inverse standard deviation; 0 for constant inputs, whose weights are not trained."""
        return np.where(self.variance > MIN_VARIANCE, (self.variance + MIN_VARIANCE) ** -0.5, 0.0)


class _Ppo:
    """The PPO agent; the simulator steps a batch of lanes at a time in a guest process."""

    def __init__(self, work: TrainNetwork, guest: SimulatorGuest) -> None:
        self._work, self._guest = work, guest
        simulation = work.simulation
        self._space, self._seen = simulation.action_space, simulation.observation_space
        self._rng = rng = np.random.default_rng(work.seed)
        discrete = isinstance(self._space, spaces.Discrete)
        self._inputs = (
            int(self._seen.n)
            if isinstance(self._seen, spaces.Discrete)
            else int(np.prod(self._seen.shape or (1,)))
        )
        self._outputs = spaces.flatdim(self._space)
        self._discrete = discrete
        units = hidden_units(self._inputs, self._outputs)
        self._actor = Mlp([self._inputs, units, units, self._outputs], rng, 0.01)
        self._critic = Mlp([self._inputs, units, units, 1], rng, 1.0)
        self._log_std = np.full(self._outputs, np.log(FIRST_STD), np.float32)
        self._observed, self._scale = _Normaliser(self._inputs), _Normaliser(1)
        self._rate, self._bonus, self.steps = np.full(1, RATE), 0.0, 0
        if work.resume:
            with np.load(io.BytesIO(base64.b64decode(work.resume)), allow_pickle=False) as arrays:
                for array, name in zip(self._arrays(), arrays.files, strict=True):
                    array[...] = arrays[name]
        actor = self._actor.parameters + ([] if discrete else [self._log_std])
        self._optimizers = Adam(actor), Adam(self._critic.parameters)

    # Training

    def train(self) -> None:
        """Alternate between rollouts and updates until the steps are spent, then restore the best policy."""
        bonus = 0.0 if self._work.resume else alive_bonus(self._guest, self._work.simulation)
        obs = self._encode(self._guest.start(LANES, self._work.simulation.horizon, self._work.seed))
        discounted = np.zeros(LANES)
        updates = math.ceil(self._work.steps / (LANES * ROLLOUT_STEPS))
        best, kept = -math.inf, list[Array]()
        for left in reversed(range(updates)):
            self._bonus = bonus if left >= (1 - ALIVE_STEPS) * updates else 0.0
            obs, batch = self._roll_out(obs, discounted)
            self._update(batch)
            if left % CHECKED_UPDATES == 0 and left <= updates / 2:
                value = float(self.play(CHECKED_LANES, 2 * 10**6 + self._work.seed).mean())
                if value > best or not kept:
                    best, kept = value, [array.copy() for array in self._arrays()]
        for array, copy in zip(self._arrays(), kept, strict=True):
            array[...] = copy

    def _roll_out(self, obs: Array, discounted: Array) -> tuple[Array, Mapping[str, Array]]:
        """Step all lanes under the current policy; return the last observations and a batch with advantages."""
        kept: dict[str, list[Array]] = {
            name: [] for name in ("obs", "action", "logp", "reward", "value", "next", "over")
        }
        for _ in range(ROLLOUT_STEPS):
            self._observed.update(obs)
            x = self._normalize(obs)
            action, logp = self._sample(x)
            before, after, reward, terminated, truncated = self._guest.advance(self._scale_actions(action))
            over = terminated | truncated
            plain_reward = reward - self._bonus
            discounted[:] = discounted * DISCOUNT + plain_reward
            self._scale.update(discounted[:, None])
            discounted[over] = 0.0
            scaled = np.clip(plain_reward * self._scale.scale, -MAX_OBSERVATION, MAX_OBSERVATION)
            reached = self._value(self._normalize(self._encode(before))) * ~terminated
            row = (x, action, logp, scaled, self._value(x), reached, over)
            for name, part in zip(kept, row, strict=True):
                kept[name].append(part)
            obs = self._encode(after)
        self.steps += LANES * ROLLOUT_STEPS
        batch = {name: np.stack(parts) for name, parts in kept.items()}
        advantage, carried = np.zeros((ROLLOUT_STEPS, LANES)), np.zeros(LANES)
        for t in range(ROLLOUT_STEPS - 1, -1, -1):
            error = batch["reward"][t] + DISCOUNT * batch["next"][t] - batch["value"][t]
            carried = error + DISCOUNT * LAMBDA * ~batch["over"][t] * carried
            advantage[t] = carried
        batch |= {"advantage": advantage, "target": advantage + batch["value"]}
        names = ("obs", "action", "logp", "advantage", "target")
        return obs, {name: batch[name].reshape(-1, *batch[name].shape[2:]) for name in names}

    def _update(self, batch: Mapping[str, Array]) -> None:
        rows, divergences = len(batch["obs"]), []
        for _ in range(EPOCHS):
            order = self._rng.permutation(rows)
            for at in range(0, rows, MINIBATCH):
                part = {name: values[order[at : at + MINIBATCH]] for name, values in batch.items()}
                divergences.append(self._improve(part))
            if divergences[-1] > 4 * TARGET_KL:
                break
        kl = float(np.mean(divergences[-rows // MINIBATCH :]))
        factor = 1 / 1.5 if kl > 2 * TARGET_KL else 1.5 if kl < TARGET_KL / 2 else 1.0
        self._rate[:] = np.clip(self._rate * factor, MIN_RATE, MAX_RATE)

    def _improve(self, part: Mapping[str, Array]) -> float:
        """Take one gradient step of actor and critic; return the KL divergence from the old policy."""
        n, obs, old = len(part["obs"]), part["obs"], part["logp"]
        advantage = part["advantage"]
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        output, inputs = self._actor.forward(obs)
        logp, gradients = self._log_probability(output, part["action"])
        ratio = np.exp(np.clip(logp - old, -20, 20))
        outside = ((advantage > 0) & (ratio > 1 + CLIP)) | ((advantage < 0) & (ratio < 1 - CLIP))
        weight = np.where(outside, 0.0, -advantage * ratio)[:, None].astype(np.float32) / n
        found = self._actor.backward(inputs, weight * gradients[0])
        if not self._discrete:
            found.append((weight * gradients[1]).sum(axis=0))
        self._optimizers[0].step(found, float(self._rate[0]))
        value, inputs = self._critic.forward(obs)
        error = (value[:, 0] - part["target"]).astype(np.float32)[:, None] / n
        self._optimizers[1].step(self._critic.backward(inputs, error), float(self._rate[0]))
        return float(((ratio - 1) - (logp - old)).mean())

    # The policy

    def _sample(self, x: Array) -> tuple[Array, Array]:
        output, _ = self._actor.forward(x)
        if self._discrete:
            action = np.argmax(output + self._rng.gumbel(size=output.shape), axis=1)
        else:
            action = output + np.exp(self._log_std) * self._rng.standard_normal(output.shape, np.float32)
        return action, self._log_probability(output, action)[0]

    def _log_probability(self, output: Array, action: Array) -> tuple[Array, tuple[Array, ...]]:
        """Return log-probabilities and their gradients with respect to the outputs and, in a box, the log-stds."""
        if self._discrete:
            shifted = output - output.max(axis=1, keepdims=True)
            logs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
            chosen: Array = np.eye(self._outputs, dtype=np.float32)[action]
            return (logs * chosen).sum(axis=1), (chosen - np.exp(logs),)
        std: Array = np.exp(self._log_std)
        z = (action - output) / std
        logp = -(0.5 * z**2 + self._log_std + 0.5 * np.log(2 * np.pi)).sum(axis=1)
        return logp, (z / std, z**2 - 1)

    def _scale_actions(self, action: Array) -> Array:
        """Convert the network's actions to the task's."""
        if isinstance(self._space, spaces.Discrete):
            return np.asarray(action + int(self._space.start))
        middle, half = span(self._space)
        wanted = middle + half * np.clip(action, -1.0, 1.0)
        return np.asarray(wanted.reshape(len(action), *(self._space.shape or ())), np.float32)

    def _encode(self, obs: Array) -> Array:
        if isinstance(self._seen, spaces.Discrete):
            return np.asarray(np.eye(self._inputs, dtype=np.float32)[obs.astype(int) - int(self._seen.start)])
        return np.asarray(obs.reshape(len(obs), -1), np.float32)

    def _normalize(self, obs: Array) -> Array:
        scaled = (obs - self._observed.mean) * self._observed.scale
        return np.asarray(np.clip(scaled, -MAX_OBSERVATION, MAX_OBSERVATION), np.float32)

    def _value(self, x: Array) -> Array:
        return np.asarray(self._critic.forward(x)[0][:, 0])

    def policy(self) -> str:
        """Return the module of the deterministic policy."""
        return network_policy(
            self._actor.parameters, self._observed.mean, self._observed.scale, self._seen, self._space
        )

    def play(self, lanes: int, seed: int) -> Array:
        """Return the returns of episodes under the deterministic policy."""
        horizon = self._work.simulation.horizon
        played = self._guest.play(LanePlay(self.policy(), [None], lanes, horizon, together=True, seed=seed))
        self.steps += int(played.lengths.sum())
        return np.asarray(played.returns[0])

    # State

    def _arrays(self) -> list[Array]:
        """Return the arrays of the training state, which are updated in place."""
        statistics = [
            array
            for part in (self._observed, self._scale)
            for array in (part.mean, part.variance, part.count)
        ]
        return [
            *self._actor.parameters,
            *self._critic.parameters,
            *statistics,
            self._log_std,
            self._rate,
        ]

    def state(self) -> str:
        """Return the training state as base64 text."""
        file = io.BytesIO()
        np.savez_compressed(file, *self._arrays(), allow_pickle=False)
        return base64.b64encode(file.getvalue()).decode()
