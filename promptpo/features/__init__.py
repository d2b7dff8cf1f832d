"""What a run asks for beside asking, measuring, tuning and judging; nothing else of it is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptpo.run.budget import allowance, simulates

if TYPE_CHECKING:
    from promptpo.search.context import SearchContext
    from promptpo.search.sampler import Sampler


def hang_features(context: SearchContext, sampler: Sampler) -> None:
    """Hang on the sampler what the configuration asks for."""
    features, config = sampler.features, context.config
    if config.teacher is not None:
        from promptpo.search.teacher import Pupil

        features.hang(Pupil(context, sampler))
    if (allowed := allowance(config, context.spender.llm)) is not None:
        from promptpo.search.probing import Experimenter

        features.hang(Experimenter(context, allowed, features))
    if simulates(config, context.spender.llm):
        from promptpo.features.simulator.feature import SimulatorSearch

        features.hang(SimulatorSearch(context, sampler))
    if context.camera is not None:
        from promptpo.search.filming import Filming

        features.hang(Filming(context, context.camera))
