"""What a run does before its first round: marks, a teacher, what the user gave, the feedback class, experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from promptpo.rollouts import evaluation_of
from promptpo.run.evidence import Evidence
from promptpo.run.records import Candidate
from promptpo.search import distilling, references, teacher
from promptpo.search.samples import GIVEN

if TYPE_CHECKING:
    from promptpo.run.config import Config
    from promptpo.run.spender import Spender
    from promptpo.search.history import History
    from promptpo.search.sampler import Sampler
    from promptpo.spec import TaskSpec
    from sandbox import Rollout


class Opening:
    """Begins a run, and says at its end how much the best acts like the teacher.

    Args:
        sampler: Measures what was given.
        spender: Rolls out, asks, and has the journal.
        spec: With the spaces.
        config: Of the run.
        horizon: Longest episode, in steps.
    """

    def __init__(
        self, sampler: Sampler, spender: Spender, spec: TaskSpec, config: Config, horizon: int
    ) -> None:
        self._sampler, self._spender, self._spec = sampler, spender, spec
        self._config, self._horizon = config, horizon

    async def begin(self, history: History) -> None:
        """Do all of it; what the journal has is not done again.

        Raises:
            BudgetSpentError: No environment steps are left.
            UsageError: The teacher cannot be played.
        """
        spec, config, horizon = self._spec, self._config, self._horizon
        history.references = await references.measured_at_start(
            self._spender,
            spec.action_space,
            config,
            horizon,
            self._sampler.measurer.watch if config.switches.world else None,
        )
        taught = await teacher.learnt_from(self._spender, spec, config, horizon)
        await self._sampler.prepare(history)
        await self._given(history, taught)
        if taught is not None:
            await self._told(history, taught)

    async def _given(self, history: History, taught: Rollout | None) -> None:
        """The user's own policies, rolled out: candidates of round 0, "r0c1" and so on, that nobody was asked for.

        Where no language model learns from a teacher, programs that are fitted to it follow.
        """
        fitted = self._distilled(taught) if taught is not None else []
        for n, source in enumerate((*self._config.start, *fitted), 1):
            candidate = Candidate(f"r0c{n}", source, 0)
            distilled = self._config.is_distilled(candidate.id)
            prose = "Distilled from the teacher." if distilled else GIVEN
            if self._config.is_written(candidate.id):
                prose = "Written while the reward was judged."
            attempt = await self._sampler.measurer.measure(candidate, history, prose=prose)
            history.attempts.append(self._sampler.measurer.recorded(attempt))

    def _distilled(self, taught: Rollout) -> list[str]:
        """Programs fitted to the teacher; decided once in a run."""
        if self._spender.llm.language_model:
            return []
        found = self._spender.journal.find("decision", "distilled")
        if found is None:
            spec = self._spec
            sources = distilling.distilled(taught.episodes, spec.observation_space, spec.action_space)
            found = self._spender.journal.add("decision", "distilled", sources).data
        return list(found)

    async def _told(self, history: History, taught: Rollout) -> None:
        """Put into words what a teacher does, for the first prompts, and its return beside the other marks."""
        evidence = Evidence.of(evaluation_of(taught).episodes)
        history.references = {**history.references, teacher.TEACHER: evidence}
        if self._spender.llm.language_model:
            history.teacher = await teacher.told(
                taught, self._spender, self._spec, evidence, self._sampler.summariser
            )

    async def fidelity(self, candidate: Candidate) -> dict[str, Any] | None:
        """How much a candidate acts like the teacher; None without one."""
        return await teacher.fidelity(self._spender, self._spec, self._config, candidate)
