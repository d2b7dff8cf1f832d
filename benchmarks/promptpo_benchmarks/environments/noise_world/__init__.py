"""NoiseWorld: small stochastic boards about which nobody has prior knowledge."""

from promptpo_benchmarks.environments.noise_world.board import BOARDS, NoiseBoard, board
from promptpo_benchmarks.environments.noise_world.env import NoiseWorldEnv
from promptpo_benchmarks.environments.noise_world.optimum import optimal_return, solve

__all__ = ["BOARDS", "NoiseBoard", "NoiseWorldEnv", "board", "optimal_return", "solve"]
