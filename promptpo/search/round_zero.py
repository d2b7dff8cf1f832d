"""What a run begins with: the user's own policies, and what a trained agent does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptpo.rollouts import evaluation_of
from promptpo.run.evidence import Evidence
from promptpo.run.records import Candidate
from promptpo.search import distilling, teacher

if TYPE_CHECKING:
    from promptpo.run.config import Config
    from promptpo.run.spender import Spender
    from promptpo.search.history import History
    from promptpo.search.sampler import Sampler
    from promptpo.spec import TaskSpec
    from sandbox import Rollout


async def prepare(
    sampler: Sampler, history: History, spender: Spender, spec: TaskSpec, config: Config, *, horizon: int
) -> None:
    """Before the first round: try what the user gave, have the feedback class written, watch the teacher.

    Raises:
        BudgetSpentError: No environment steps are left.
        UsageError: The teacher cannot be played in this environment.
    """
    taught = await teacher.learnt_from(spender, spec, config, horizon)
    sources = list(config.start)
    if taught is not None and not spender.llm.language_model:
        sources += _distilled(taught, spender, spec)
    for n, source in enumerate(sources, 1):
        candidate = Candidate(f"r0c{n}", source, 0)
        distilled = config.is_distilled(candidate.id)
        prose = "Distilled from the teacher." if distilled else "Given by the user."
        attempt = await sampler.measure(candidate, history, prose=prose)
        history.attempts.append(sampler.recorded(attempt))
    await sampler.summariser.prepare()
    if taught is None:
        return
    evidence = Evidence.of(evaluation_of(taught).episodes)
    history.references = {**history.references, teacher.TEACHER: evidence}
    if spender.llm.language_model:
        history.teacher = await teacher.told(taught, spender, spec, evidence, sampler.summariser)


def _distilled(taught: Rollout, spender: Spender, spec: TaskSpec) -> list[str]:
    """Programs fitted to the teacher, where nobody is asked who could learn from it; decided once in a run."""
    found = spender.journal.find("decision", "distilled")
    if found is None:
        sources = distilling.distilled(taught.episodes, spec.observation_space, spec.action_space)
        found = spender.journal.add("decision", "distilled", sources).data
    return list(found)
