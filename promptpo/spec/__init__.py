"""The description of an environment that a language model is shown."""

from promptpo.spec.task_spec import TaskSpec, with_cut, with_hint

__all__ = ["TaskSpec", "with_cut", "with_hint"]
