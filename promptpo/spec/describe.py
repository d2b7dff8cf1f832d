"""The spec of a task: the Python text that a language model sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from promptpo.spec.facts import TaskFacts, task_facts

if TYPE_CHECKING:
    import gymnasium

    from promptpo.records import Reveal, Task

Detail = Literal["short", "normal", "full"]


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """A task as a language model sees it.

    Attributes:
        text: Valid Python that describes observation, action, reward and episode.
        observation_space: What the policy sees.
        action_space: What it returns.
        horizon: Longest episode in steps; None where nothing bounds it.
        reward_threshold: The return from which the registry calls the task solved.
        reports_success: Whether ``info`` says if an episode succeeded.
        sample_steps: Environment steps spent on observing.
        sources: Part of the text to where it came from.
    """

    text: str
    observation_space: gymnasium.Space[Any]
    action_space: gymnasium.Space[Any]
    horizon: int | None
    reward_threshold: float | None
    reports_success: bool
    sample_steps: int = 0
    sources: Mapping[str, str] = field(default_factory=dict)


def describe(
    task: Task, *, reveal: Reveal = "named", detail: Detail = "normal", spec_file: str | None = None
) -> TaskSpec:
    """Describe a task."""
    facts = task_facts(task)
    text = _minimal(task, facts, reveal)
    if spec_file is not None:
        from pathlib import Path

        text = Path(spec_file).read_text(encoding="utf-8")
    return TaskSpec(
        text=text,
        observation_space=facts.observation_space,
        action_space=facts.action_space,
        horizon=facts.horizon,
        reward_threshold=facts.reward_threshold,
        reports_success=facts.success_key is not None,
        sample_steps=1,
        sources={"text": "spaces"},
    )


def _minimal(task: Task, facts: TaskFacts, reveal: Reveal) -> str:
    name = f"Task: {task.name}." if reveal == "named" else "A control task."
    return f'"""{name}"""\n\nOBSERVATION = "{facts.observation_space}"\nACTION = "{facts.action_space}"\nHORIZON = {facts.horizon}\n'
