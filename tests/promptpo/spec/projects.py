"""Helpers for tests that generate projects and read the source block of their specs."""

import itertools
from typing import Any

from promptpo.envs.building import make_env
from promptpo.envs.foreign import AnyEnv
from promptpo.envs.task import Task
from promptpo.spec.observe import observe
from promptpo.spec.own_source import OwnSource, read_source

NUMBERS = itertools.count()

LONG = f"self.x * len('{'x' * 3600}')"
"""A long expression with few AST nodes."""

HEAD = "import gymnasium as gym\nimport numpy as np\nfrom gymnasium import spaces\n"


def source_of(env_id: str, **how: Any) -> str:
    """Return the source block that a spec shows of an environment."""
    return source_after_steps(make_env(Task(env_id, **how))).text


def source_after_steps(env: AnyEnv) -> OwnSource:
    """Observe an environment and read its source."""
    return read_source(env, observe(env, "the environment").called)
