"""The file that ``promptpo refine`` writes: its text, its evaluation, and the room in it for a network."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from promptpo.core.control import run_async
from promptpo.envs.family import longest
from promptpo.envs.task import Task
from promptpo.output.exporting import SEARCH, Provenance, export_text
from promptpo.program import Program
from promptpo.rollouts import Job, Settings, evaluation_of, roll_out
from promptpo.rollouts.evaluation import Evaluation
from promptpo.rollouts.local import LocalExecutor
from promptpo.run.episodes import UNBOUNDED_HORIZON
from promptpo_baselines.algorithms import display_name
from promptpo_baselines.environments import make_playable
from promptpo_baselines.refine.checking import describe_gain
from promptpo_baselines.refine.programs import Prior, join_parts
from promptpo_baselines.refine.shapes import flat_text
from promptpo_baselines.refine.weights import Network
from promptpo_baselines.settings import TrainingSettings
from promptpo_sandbox import Limits, Rollout, Trial

ROOM = 2_000
"""Characters of a file reserved for everything but the program and the weights."""


class FileEvaluator:
    """Plays policy files as ``promptpo evaluate`` does.

    Args:
        task: The task to play.
        allow_weaker: Accept a machine that lacks sandbox layers.

    Attributes:
        spaces: Spaces of observations and actions.
    """

    def __init__(self, task: Task, *, allow_weaker: bool = False) -> None:
        env = make_playable(task, allow_weaker=allow_weaker)
        self.spaces = (env.observation_space, env.action_space)
        self._horizon = longest(env) or task.max_episode_steps or UNBOUNDED_HORIZON
        env.close()
        self._executor = LocalExecutor(Settings(task, Limits(), allow_weaker), 1)

    def room(self, prior: Prior) -> int:
        """Return how many characters a network may have beside a program in a file that the sandbox accepts."""
        used = len(join_parts([prior.program.docstring, prior.module, prior.asking]).encode())
        return Limits().source_bytes - used - 2 * ROOM

    def evaluate(self, source: str, seeds: Sequence[int]) -> Evaluation:
        """Play one episode for each seed."""
        began = time.monotonic()
        params = Program.from_source(source).values
        trials = tuple(Trial(seed, params, self._horizon) for seed in seeds)

        async def work() -> Rollout:
            (rollout,) = await roll_out(
                self._executor, [Job(source, trials, stop_on_failure=False, apart=True)]
            )
            return rollout

        return evaluation_of(run_async(work), time.monotonic() - began)

    def export(
        self,
        source: str,
        prior: Prior,
        settings: TrainingSettings,
        directory: Path,
        content: Mapping[str, Any] | None,
    ) -> str:
        """Return the text of ``best.py``.

        Args:
            source: The module that was played.
            prior: The program in it.
            settings: Settings of the run.
            directory: The run directory.
            content: Content of ``result.json``; None before the test.
        """
        given = settings.prior or {}
        about = _about(source, prior, settings, content)
        body = Program.from_source(source).without_docstring
        text = f'"""{_quote(about)}"""\n{body}'
        provenance = Provenance(
            settings.task,
            SEARCH if given["model"] == "search" else given["model"],
            directory.resolve().name,
            given["candidate"] + ("" if source == prior.source else " with a network"),
            content or {},
        )
        return export_text(text, provenance, action_space=prior.action_space, filename="best.py")

    def close(self) -> None:
        """End the processes."""
        self._executor.close()


def build_refined_source(prior: Prior, network: Network, *, scale: float | None) -> str:
    """Return the module that is played: the program, the weights, and the policy that combines them.

    Args:
        prior: The program.
        network: The network that is added to it, or acts alone.
        scale: Scale of what is added; None if the network acts alone.
    """
    alone = scale is None
    says = "The program with a residual network; `Policy(params, residual=False)` is the program alone."
    if alone:
        says = "The network, which acts alone; `Policy(params, residual=False)` is the program that it learned from."
    policy = _POLICY.format(
        says=says,
        flat=flat_text(prior.observation_space, "obs"),
        asking="" if alone else "action = self.prior.numbers(obs)\n        ",
        prior="np.zeros(0)" if alone else "action",
        action=prior.actions.writing("output", "action", scale),
    )
    doc = f'"""{_quote(prior.program.docstring)}"""' if prior.program.docstring else ""
    return join_parts([doc, prior.module, network.text, prior.asking, policy])


def _about(source: str, prior: Prior, settings: TrainingSettings, content: Mapping[str, Any] | None) -> str:
    """Write the file's docstring: about the network, then the program's own."""
    if source == prior.source:
        text = "No network that was trained on top of this program was better on validation episodes."
    else:
        alone = bool((settings.prior or {}).get("alone"))
        how = (
            "began with episodes of the program and acts alone"
            if alone
            else "on top of the program adds to its action"
        )
        text = f"A network trained by {display_name(settings.algorithm)} {how}; the program alone: Policy(params, residual=False)."
        if content is not None:
            weights, steps = content["residual"]["weights"], content["best"]["steps"]
            text += f"\nIt has {weights:,} weights, {steps:,} steps of training; {describe_gain(content)}."
    return "\n\n".join(part for part in (text, prior.program.docstring) if part)


def _quote(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''")


_POLICY = '''\
class Policy:
    """{says}"""

    def __init__(self, params=None, residual=True):
        self.prior, self.network, self.residual = Prior(params), Network(), residual

    def act(self, obs):
        if not self.residual:
            return self.prior.program.act(obs)
        observed = {flat}
        {asking}output = self.network(observed, {prior})
        return {action}
'''
