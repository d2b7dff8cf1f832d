"""Environments and what a language model is told about them."""

from promptpo.spec.check import Contradiction, check_spec
from promptpo.spec.describe import TaskSpec, describe
from promptpo.spec.environments import make_env
from promptpo.spec.facts import TaskFacts, task_facts

__all__ = ["Contradiction", "TaskFacts", "TaskSpec", "check_spec", "describe", "make_env", "task_facts"]
