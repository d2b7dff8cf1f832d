"""``promptpo baseline llm-agent``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from promptpo.cli.arguments import EnvId
from promptpo.cli.groups import grouped
from promptpo.cli.run_flags import TestedFlags
from promptpo.errors import UsageError
from promptpo_baselines.flags import AgentFlags, AskingPlaceFlags, ModelFlags, held_out_in_words

if TYPE_CHECKING:
    from promptpo_baselines.llm_agent.play import AgentEpisode
    from promptpo_baselines.llm_agent.run import AgentConfig

ENGINES = (
    "completion:MODEL (OpenAI's, or a server with --base-url), llamacpp:MODEL, embedded:smollm2, or a chat model: "
    "openai:MODEL, anthropic:MODEL, exec:COMMAND, inbox:DIR (by hand)"
)


@grouped
def llm_agent(
    env_id: EnvId, model: ModelFlags, flags: AgentFlags, task: TestedFlags, place: AskingPlaceFlags
) -> None:
    """Let a language model act by itself, a call for each step.

    It sees the spec, the last steps and a description of each action. Nothing is learnt; what it costs by
    episode stands beside what a program costs.
    """
    from promptpo_baselines.icpi.engines.choose import check_engine, is_paid
    from promptpo_baselines.llm_agent.estimate import estimate
    from promptpo_baselines.llm_agent.run import AgentConfig, prepare

    if not model.engine:
        raise UsageError(f"--engine is missing; it is one of {ENGINES}.")
    if not is_paid(model.engine):
        raise UsageError(f"{model.engine} answers the questions of ICPI only; --engine is one of {ENGINES}.")
    config = AgentConfig(**vars(flags), **vars(model), task=task.task(env_id))
    if place.estimate:
        place.estimated(estimate(config, prepare(config)), model.engine)
        return
    check_engine(model.engine, None, model.base_url)
    _run(config, place)


def _run(config: AgentConfig, place: AskingPlaceFlags) -> None:
    """Say what it takes at most, run, and print the result."""
    from promptpo.output.baseline_run import acting_in_words
    from promptpo_baselines.llm_agent.estimate import estimate
    from promptpo_baselines.llm_agent.run import prepare, run

    if not place.silent:
        print(estimate(config, prepare(config)).sentence(str(config.engine)), file=sys.stderr)
    directory = place.directory(config.task)
    observe = (lambda *_: None) if place.silent else _EpisodeLines(config)
    content = run(config, directory, observe)
    place.show(content, directory, [*_summary(content), *acting_in_words(content), f"run: {directory}"])


class _EpisodeLines:
    """One line for each episode on standard error."""

    def __init__(self, config: AgentConfig) -> None:
        self._planned = config.test_episodes * (2 if config.task.held_out else 1)

    def __call__(self, episode: AgentEpisode, done: int) -> None:
        print(
            f"episode {done}/{self._planned}: return {episode.return_:g}, {episode.steps} steps, "
            f"{episode.counts['calls']} calls",
            file=sys.stderr,
        )


def _summary(content: dict[str, Any]) -> list[str]:
    test, answers = content["test"], content["answers"]
    lines = [f"llm-agent ({content['model']}) on {content['env_id']}: {content['stop_reason']}"]
    if test["mean_return"] is not None:
        lines.append(held_out_in_words(test))
    if answers["unreadable"]:
        lines.append(
            f"{answers['unreadable']} of {answers['calls']} answers could not be read; {answers['drawn']} actions were "
            "drawn at random instead"
        )
    return lines
