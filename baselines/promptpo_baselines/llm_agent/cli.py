"""``promptpo baseline llm-agent``."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from promptpo.cli.arguments import EnvId
from promptpo.cli.document import print_json
from promptpo.cli.groups import grouped
from promptpo.cli.run_flags import TestedFlags
from promptpo.errors import UsageError
from promptpo_baselines.flags import AgentFlags, AskingPlaceFlags, ModelFlags

if TYPE_CHECKING:
    from promptpo_baselines.llm_agent.play import AgentEpisode
    from promptpo_baselines.llm_agent.run import AgentConfig, DescribedTask

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
    from promptpo_baselines.icpi.engines.choose import check_model, is_paid
    from promptpo_baselines.llm_agent.run import AgentConfig, prepare

    if not model.engine:
        raise UsageError(f"--engine is missing; it is one of {ENGINES}.")
    if not is_paid(model.engine):
        raise UsageError(f"{model.engine} answers the questions of ICPI only; --engine is one of {ENGINES}.")
    config = AgentConfig(**vars(flags), **vars(model), task=task.task(env_id))
    if place.estimate:
        _say_estimate(config, prepare(config), only=True, as_json=place.as_json)
        return
    check_model(model.engine, model.base_url)
    _run(config, place)


def _run(config: AgentConfig, place: AskingPlaceFlags) -> None:
    """Say what it takes at most, run, and print the result."""
    from promptpo.api import default_directory
    from promptpo.output.baseline_run import acting_in_words
    from promptpo_baselines.llm_agent.run import prepare, run

    silent = place.quiet or place.as_json
    if not silent:
        _say_estimate(config, prepare(config), only=False, as_json=False)
    directory = place.out or default_directory(config.task)
    observe = (lambda *_: None) if silent else _EpisodeLines(config)
    content = run(config, directory, observe, command=shlex.join(sys.argv))
    if place.as_json:
        print_json({"run": str(directory), **content})
    elif not place.quiet:
        print("\n".join([*_summary(content), *acting_in_words(content), f"run: {directory}"]))


def _say_estimate(config: AgentConfig, prepared: DescribedTask, *, only: bool, as_json: bool) -> None:
    from promptpo_baselines.llm_agent.estimate import estimate

    guess = estimate(config, prepared)
    if as_json:
        print_json(asdict(guess))
    else:
        print(guess.sentence(str(config.engine)), file=sys.stdout if only else sys.stderr)


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
    from promptpo.telling.feedback import episodes_in_words, number

    test, answers = content["test"], content["answers"]
    lines = [f"llm-agent ({content['model']}) on {content['env_id']}: {content['stop_reason']}"]
    if test["mean_return"] is not None:
        low, high = test["ci95"]
        success = "" if test["success_rate"] is None else f", success {test['success_rate']:.0%}"
        lines.append(
            f"held-out return {number(test['mean_return'])} ({number(low)} to {number(high)}) over "
            f"{episodes_in_words(test['episodes'])}{success}"
        )
    if answers["unreadable"]:
        lines.append(
            f"{answers['unreadable']} of {answers['calls']} answers could not be read; {answers['drawn']} actions were "
            "drawn at random instead"
        )
    return lines
