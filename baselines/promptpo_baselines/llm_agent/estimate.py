"""Upper bounds on the calls of a run of the agent, before it begins."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from promptpo.run.episodes import UNBOUNDED_HORIZON
from promptpo_baselines.environments import make_playable
from promptpo_baselines.icpi.estimate import CallEstimate
from promptpo_baselines.icpi.prompts import CHARACTERS_PER_TOKEN
from promptpo_baselines.llm_agent.prompts import LABEL_TOKENS, NUMBER_TOKENS, ShownStep, format_observation

if TYPE_CHECKING:
    from promptpo_baselines.llm_agent.run import AgentConfig, DescribedTask


def estimate(config: AgentConfig, prepared: DescribedTask) -> CallEstimate:
    """Estimate one call for each step, with episodes of full length and readable answers.

    Args:
        config: Configuration of the run.
        prepared: Its actions and prompts.
    """
    horizon = prepared.horizon or config.task.max_episode_steps or UNBOUNDED_HORIZON
    episodes = config.test_episodes * (2 if config.task.held_out else 1)
    calls = episodes * horizon
    with contextlib.closing(make_playable(config.task)) as env:
        observation = format_observation(env.reset(seed=0)[0])
    shown = [ShownStep(observation, "(A) an action", 0.0)] * min(config.last, horizon)
    prompt = prepared.prompts.request(shown, observation).prompt
    tokens = round(calls * len(prompt) / CHARACTERS_PER_TOKEN)
    answer = LABEL_TOKENS if prepared.actions.labels else NUMBER_TOKENS
    return CallEstimate.of(str(config.engine), calls, tokens, answer)
