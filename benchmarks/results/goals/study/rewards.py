"""Rewards for sentences: the prompt that asks for one, the answer to it on disk, and the program in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo.files import read_text
from promptpo.llm.base import Message, Request
from promptpo.program import answers
from promptpo.program.reward_program import reward_program
from promptpo.core.control import run_async
from promptpo.features.goals.reward import question, system_prompt
from promptpo.spec.describe import describe

if TYPE_CHECKING:
    from promptpo.envs.task import RewardProgram

ANSWERS = Path(__file__).parents[1] / "answers"
"""Answers of a large language model to the prompts, beside them."""

GOALS: Mapping[str, tuple[str, int]] = {
    "Acrobot-v1": ("swing the free end of the lower link above the line as fast as possible", 40_000),
    "Pendulum-v1": (
        "swing the pendulum up and hold it upright and still, with as little torque as that takes",
        30_000,
    ),
    "MountainCarContinuous-v0": (
        "drive the car up the right hill to the flag, as fast as possible and with little force",
        12_000,
    ),
}
"""The objective of each environment's own reward in words, and the number of training steps."""


@dataclass(frozen=True, slots=True)
class WrittenPrompt:
    """The prompt for one environment.

    Attributes:
        env_id: The environment.
        goal: The sentence.
        system: The system prompt.
        user: The question.
    """

    env_id: str
    goal: str
    system: str
    user: str

    @property
    def text(self) -> str:
        """Both parts as one file."""
        return f"# The system prompt\n\n{self.system.strip()}\n\n# The question\n\n{self.user.strip()}\n"


def prompt_for(env_id: str, goal: str) -> WrittenPrompt:
    """The prompt by which a run with this goal begins."""
    spec = describe(Task(env_id))
    return WrittenPrompt(env_id, goal, system_prompt(goal, spec), question(spec, spec.horizon))


def program_for(env_id: str, goal: str, folder: Path, model: str = "") -> RewardProgram:
    """The program in the answer on disk; where there is none, a model is asked, and prompt and answer are kept.

    Args:
        env_id: The environment.
        goal: The sentence.
        folder: Of prompts and answers, one of each for an environment.
        model: Who is asked, as ``--model`` of `optimize` takes it; empty for nobody.

    Raises:
        UsageError: There is no answer, and nobody to ask; or no program in it that the gate lets pass.
    """
    name = env_id.replace("/", "-")
    file = folder / f"{name}.md"
    if not file.exists() and not model:
        raise UsageError(f"there is no answer {file}; name a model that writes it, with --model.")
    if not file.exists():
        prompt = prompt_for(env_id, goal)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.prompt.md").write_text(prompt.text, encoding="utf-8")
        file.write_text(_asked(prompt, model), encoding="utf-8")
    answer = answers.extract_program(read_text(file), class_name="Reward")
    if answer.problem:
        raise UsageError(f"{file} has no module with a class Reward in it.")
    return reward_program(answer.source, file=file.name, goal=goal)


def _asked(prompt: WrittenPrompt, model: str) -> str:
    """One answer of a model."""
    from promptpo.llm.choose import make_llm

    async def ask() -> str:
        llm = make_llm(model)
        try:
            request = Request(
                key=f"goals.{prompt.env_id}",
                purpose="reward",
                system=prompt.system,
                messages=(Message("user", prompt.user),),
                max_output_tokens=8192,
            )
            return (await llm.complete(request)).text
        finally:
            await llm.aclose()

    return run_async(ask)
