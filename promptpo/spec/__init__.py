"""What a language model is told about an environment."""

from promptpo.spec.task_spec import TaskSpec, with_cut, with_hint

__all__ = ["TaskSpec", "with_cut", "with_hint"]
