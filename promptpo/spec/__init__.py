"""What a language model is told about an environment."""

from promptpo.spec.check import Contradiction, check_spec
from promptpo.spec.describe import TaskSpec, describe, describe_env, with_cut, with_hint

__all__ = [
    "Contradiction",
    "TaskSpec",
    "check_spec",
    "describe",
    "describe_env",
    "with_cut",
    "with_hint",
]
