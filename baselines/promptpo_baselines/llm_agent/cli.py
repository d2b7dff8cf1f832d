"""``promptpo baseline llm-agent``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptpo.cli.arguments import EnvId
from promptpo.cli.groups import expand_groups
from promptpo.cli.run_flags import TestedFlags
from promptpo.errors import UsageError
from promptpo_baselines.flags import AgentFlags, AskingPlaceFlags, ModelFlags

if TYPE_CHECKING:
    from promptpo_baselines.llm_agent.play import AgentEpisode


@expand_groups
def llm_agent(
    env_id: EnvId, model: ModelFlags, flags: AgentFlags, task: TestedFlags, place: AskingPlaceFlags
) -> None:
    """Let a language model choose each action, with one call per step.

    It sees the spec, the last steps and a description of each action, and does not learn. The result compares its cost per
    episode with that of a program.
    """
    from promptpo.output.sentences import sentence
    from promptpo_baselines.icpi.engines.choose import HELP, select_engine
    from promptpo_baselines.llm_agent.estimate import estimate
    from promptpo_baselines.llm_agent.run import AgentConfig, prepare, run

    if not model.engine:
        raise UsageError(f"--engine is missing; it is one of: {HELP}")
    config = AgentConfig(**vars(flags), **vars(model), task=task.task(env_id))
    guess = estimate(config, prepare(config))
    if not place.estimate:
        select_engine(model.engine, None, model.base_url)
    directory = place.announce(guess, model.engine, config.task)
    if directory is None:
        return
    planned = config.test_episodes * (2 if config.task.held_out else 1)

    def observe(episode: AgentEpisode, done: int) -> None:
        record, calls = episode.record, episode.counts["calls"]
        place.tell(
            f"episode {done}/{planned}: return {record.return_:g}, {record.steps} steps, {calls} calls"
        )

    content = run(config, directory, observe)
    answers, notes = content["answers"], []
    if answers["unreadable"]:
        unread = f"{answers['unreadable']} of {answers['calls']} answers could not be read"
        notes.append(f"{unread}; {answers['drawn']} actions were drawn at random instead")
    place.show(content, directory, *notes, sentence("acting", content))
