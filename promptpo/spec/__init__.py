"""What a language model is told about an environment."""

from promptpo.spec.check import Contradiction, check_spec
from promptpo.spec.describe import TaskSpec, describe, describe_env, with_hint
from promptpo.spec.draft import Ask, Draft, draft_spec
from promptpo.spec.facts import TaskFacts, task_facts

__all__ = [
    "Ask",
    "Contradiction",
    "Draft",
    "TaskFacts",
    "TaskSpec",
    "check_spec",
    "describe",
    "describe_env",
    "draft_spec",
    "task_facts",
    "with_hint",
]
