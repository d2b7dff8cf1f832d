"""Checks of what a user gives a run to begin with, before anything is made or stepped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from promptpo.envs.building import make_env
from promptpo.envs.contract import STEPPING, blaming, patience
from promptpo.errors import UsageError
from promptpo.program import Program
from promptpo.prompts.feedback import what_it_did
from promptpo_sandbox import Failure, Limits, Sandbox, Trial

if TYPE_CHECKING:
    import gymnasium

    from promptpo.core.config import Config
    from promptpo.envs.task import Task


def check_given(config: Config) -> None:
    """Refuse policies that cannot act on the first observation; the environment is reset and never stepped.

    Raises:
        UsageError: The sentence names what does not fit.
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
    """Refuse a policy that cannot act on the first observation, which is asked in the sandbox.

    Args:
        source: The policy module.
        env: What it is to play; it is reset and not stepped.
        task: The same by name.
        which: The policy, in words.
        allow_weaker: Accept a machine that lacks sandbox layers.

    Raises:
        UsageError: It fails.
        EnvironmentFaultError: The environment does.
    """
    with patience(STEPPING, f"a reset of {task.name}"), blaming(f"the environment {task.name}"):
        first, _ = env.reset(seed=0)
    trial = Trial(0, Program.from_source(source).values)
    with Sandbox(Limits(), allow_weaker=allow_weaker) as box:
        policies = box.open_policies(source, env.observation_space, env.action_space)
        found = policies.start({0: trial}).get(0) or policies.act({0: first})[0]
    if isinstance(found, Failure):
        raise UsageError(
            f"{which} does not fit {task.name}: on the first observation it "
            f"{what_it_did(found.kind)}: {found.message.rstrip('.')}; correct it, or leave it out."
        )
