"""Networks that imitate a program, from its own steps or from steps of the network that the program labels.

`python benchmarks/results/refine/imitation.py HalfCheetah-v5 FILE` prints a row for each network. The second kind is
*A Reduction of Imitation Learning and Structured Prediction to No-Regret Online Learning* (Ross, Gordon, Bagnell, 2011):
after a first round the network acts, a fresh program that is asked beside it says what it would do there, and the
network is fitted to all that was said.
"""

from __future__ import annotations

import argparse
import itertools
import json
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from torch import nn

from promptpo.output.exporting import policy_part
from promptpo.program import Program
from promptpo_sandbox import Limits, Sandbox, Trial

UPDATES, BATCH, WIDTH = 4_000, 256, 128
TEST_SEED = 900_000


class Network:
    """Two hidden layers, fitted to pairs of an observation and an action from -1 to 1."""

    def __init__(self, observed: Any, actions: Any, seed: int) -> None:
        torch.manual_seed(seed)
        self.mean, self.std = observed.mean(0), observed.std(0) + 1e-3
        sizes = [observed.shape[1], WIDTH, WIDTH, actions.shape[1]]
        layers = [(nn.Linear(before, after), nn.ReLU()) for before, after in itertools.pairwise(sizes)]
        self.layers = nn.Sequential(*itertools.chain(*layers))
        self.layers[-1] = nn.Tanh()
        given, wanted = self.normal(observed), torch.as_tensor(actions, dtype=torch.float32)
        optimizer = torch.optim.Adam(self.layers.parameters(), 1e-3)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, UPDATES)
        for _ in range(UPDATES):
            drawn = torch.randint(len(given), (BATCH,))
            loss = ((self.layers(given[drawn]) - wanted[drawn]) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()

    def normal(self, observed: Any) -> torch.Tensor:
        """Observations as the layers read them."""
        return torch.as_tensor(np.clip((observed - self.mean) / self.std, -10, 10), dtype=torch.float32)

    def __call__(self, observed: Any) -> Any:
        """Actions, one row for each observation."""
        with torch.no_grad():
            return self.layers(self.normal(observed)).numpy()


def episodes(env: gymnasium.Env[Any, Any], first: int, steps: int, asked: Any, values: Any, actor: Any) -> Any:
    """Observations and what a program does there, while it acts, or an actor where there is one."""
    observed: list[Any] = []
    labels: list[Any] = []
    for seed in itertools.count(first):
        obs, _ = env.reset(seed=seed)
        asked.start({0: Trial(seed, values)})
        over = False
        while not over and len(observed) < steps:
            observed.append(obs)
            labels.append(asked.act({0: obs})[0])
            action = labels[-1] if actor is None else actor(obs)
            obs, _, terminated, truncated, _ = env.step(action)
            over = terminated or truncated
        if len(observed) == steps:
            return np.array(observed), np.array(labels)


def returns(env: gymnasium.Env[Any, Any], actor: Network) -> list[float]:
    """Of five episodes."""
    found = []
    for seed in range(TEST_SEED, TEST_SEED + 5):
        obs, _ = env.reset(seed=seed)
        total, over = 0.0, False
        while not over:
            obs, reward, terminated, truncated, _ = env.step(actor(obs))
            total, over = total + float(reward), terminated or truncated
        found.append(round(total, 1))
    return found


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("env_id")
    parser.add_argument("file", type=Path, help="a policy file")
    parser.add_argument("--steps", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    source, env = policy_part(options.file.read_text()), gymnasium.make(options.env_id)
    values, first, part = Program.from_source(source).values, options.seed * 10_000, options.steps // options.rounds

    def told(kind: str, observed: Any, labels: Any) -> Network:
        network = Network(observed, labels, options.seed)
        row = {"env_id": options.env_id, "learns_from": kind, "steps": len(observed), "seed": options.seed}
        print(json.dumps({**row, "returns": returns(env, network)}), flush=True)
        return network

    with Sandbox(Limits(), core=-1) as box:
        asked = box.open_policies(source, env.observation_space, env.action_space)
        observed, labels = episodes(env, first, options.steps, asked, values, None)
        known = options.steps * 4 // 5
        guess = Network(observed[:known], labels[:known], options.seed)(observed[known:])
        share = ((guess - labels[known:]) ** 2).mean() / labels[known:].var(0).mean()
        print(json.dumps({"env_id": options.env_id, "unexplained": round(float(share), 3)}), flush=True)
        told("program", observed, labels)
        observed, labels = observed[:part], labels[:part]
        for n in range(1, options.rounds):
            network = told("labels", observed, labels)
            more = episodes(env, first + 5_000 + n * 100, part, asked, values, network)
            observed, labels = (np.concatenate(both) for both in zip((observed, labels), more, strict=True))
        told("labels", observed, labels)
        asked.close()


if __name__ == "__main__":
    main()
