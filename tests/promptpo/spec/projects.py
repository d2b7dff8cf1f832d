"""Helpers for tests that generate projects and read the source block of their specs."""

import itertools
from typing import Any

from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.spec.own_source import read_source

NUMBERS = itertools.count()

LONG = f"self.x * len('{'x' * 3600}')"
"""A long expression with few AST nodes."""

HEAD = "import gymnasium as gym\nimport numpy as np\nfrom gymnasium import spaces\n"


def source_of(env_id: str, **how: Any) -> str:
    """Return the source block that a spec shows of an environment."""
    env = make_env(Task(env_id, **how))
    env.reset(seed=0)
    return read_source(env).text
