"""Checks of a user's initial policies before a run is created."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from promptpo.envs.building import make_env
from promptpo.envs.contract import STEP_SECONDS, blaming, patience
from promptpo.errors import UsageError
from promptpo.program import Program
from promptpo.prompts.feedback import what_it_did
from promptpo_sandbox import Failure, Limits, Sandbox, Trial

if TYPE_CHECKING:
    import gymnasium

    from promptpo.core.config import Config
    from promptpo.envs.task import Task


def check_user_inputs(config: Config) -> None:
    """Refuse policies that cannot act on the first observation; the environment is reset and never stepped.

    Raises:
        UsageError: A policy does not fit the task.
        PromptPOError: The environment cannot be built, or policies cannot be confined here.
    """
    env = make_env(config.task)
    try:
        for n, source in enumerate(config.start, 1):
            which = "the policy of --start" if len(config.start) == 1 else f"policy {n} of --start"
            check_policy(source, env, config.task, which, allow_weaker=config.allow_weaker_sandbox)
    finally:
        env.close()


def check_policy(
    source: str, env: gymnasium.Env[Any, Any], task: Task, which: str, *, allow_weaker: bool = False
) -> None:
    """Refuse a policy that cannot act on the first observation, by running it in the sandbox.

    Args:
        source: The policy module.
        env: The environment, which is reset and not stepped.
        task: The task, for its name.
        which: The policy, in words.
        allow_weaker: Whether to accept missing sandbox layers.

    Raises:
        UsageError: The policy fails.
        EnvironmentFaultError: The environment fails.
    """
    with patience(STEP_SECONDS, f"a reset of {task.name}"), blaming(f"the environment {task.name}"):
        first, _ = env.reset(seed=0)
    trial = Trial(0, Program.from_source(source).values)
    with Sandbox(Limits(), allow_weaker=allow_weaker) as box:
        policies = box.open_policies(source, env.observation_space, env.action_space)
        found = policies.start({0: trial}).get(0) or policies.act({0: first})[0]
    if isinstance(found, Failure):
        raise UsageError(
            f"{which} does not fit {task.name}: on the first observation it "
            f"{what_it_did(found.kind)}: {found.message.rstrip('.')}; fix it or leave it out."
        )
