"""Features of a run beyond asking, evaluating, tuning and selecting; each is imported only if it is on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptpo.run.budget import allowance, simulates

if TYPE_CHECKING:
    from promptpo.search.context import SearchContext
    from promptpo.search.sampler import Sampler


def install_features(context: SearchContext, sampler: Sampler) -> None:
    """Hang on the sampler what the configuration asks for."""
    features, config = sampler.features, context.config
    if config.teacher is not None:
        from promptpo.search.teacher import Pupil

        features.register(Pupil(context, sampler))
    if (allowed := allowance(config, context.spender.llm)) is not None:
        from promptpo.search.probing import Experimenter

        features.register(Experimenter(context, allowed, features))
    if simulates(config, context.spender.llm):
        from promptpo.features.simulator.feature import SimulatorSearch

        features.register(SimulatorSearch(context, sampler))
    if context.camera is not None:
        from promptpo.search.filming import Filming

        features.register(Filming(context, context.camera))
