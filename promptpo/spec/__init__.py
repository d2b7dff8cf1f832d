"""What a language model is told about an environment."""

from promptpo.spec.check import Contradiction, check_spec
from promptpo.spec.describe import TaskSpec, describe, describe_env, with_cut, with_hint
from promptpo.spec.draft import Ask, Draft, draft_spec

__all__ = [
    "Ask",
    "Contradiction",
    "Draft",
    "TaskSpec",
    "check_spec",
    "describe",
    "describe_env",
    "draft_spec",
    "with_cut",
    "with_hint",
]
