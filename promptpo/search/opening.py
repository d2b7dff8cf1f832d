"""What a run does before its first round: marks, the feedback class, features, what the user gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptpo.run.control import together
from promptpo.run.records import Candidate
from promptpo.search import references
from promptpo.search.samples import GIVEN

if TYPE_CHECKING:
    from promptpo.run.history import History
    from promptpo.search.context import SearchContext
    from promptpo.search.sampler import Sampler


async def opened(context: SearchContext, history: History, sampler: Sampler) -> None:
    """Do all of it; what the journal has is not done again.

    The user's own policies become candidates of round 0, "r0c1" and so on, that nobody was asked for.

    Raises:
        BudgetSpentError: No environment steps are left.
        UsageError: A teacher cannot be played.
    """
    features, config = sampler.features, context.config
    history.references = await references.measured_at_start(context, features)
    await together([sampler.summariser.prepare(), features.before_round(0, history)])
    for n, source in enumerate(config.start, 1):
        candidate = Candidate(f"r0c{n}", source, 0)
        prose = "Written while the reward was judged." if config.is_written(candidate.id) else GIVEN
        attempt = await sampler.measurer.measure(candidate, history, prose=prose)
        history.attempts.append(sampler.measurer.recorded(attempt))
