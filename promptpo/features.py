"""What a run asks for beside asking, measuring, tuning and judging; nothing else of it is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptpo.run.budget import allowance

if TYPE_CHECKING:
    from promptpo.search.context import SearchContext
    from promptpo.search.sampler import Sampler


def asked_for(context: SearchContext, sampler: Sampler) -> None:
    """Hang on the sampler what the configuration asks for."""
    features, horizon = sampler.features, context.horizon
    spec, spender, config = context.spec, context.spender, context.config
    if config.teacher is not None:
        from promptpo.search.teacher import Pupil

        features.hang(Pupil(sampler, spender, spec, config))
    if allowance(config, spender.llm) is not None:
        from promptpo.search.probing import Experimenter

        features.hang(Experimenter(spec, spender, config, horizon, features))
    if config.switches.world:
        from promptpo.world.search import WorldSearch

        features.hang(WorldSearch(spec, sampler, spender, config, horizon, context.threshold))
    if config.shows_frames(spender.llm):
        from promptpo.search.filming import Filming

        features.hang(Filming(spec, spender, config, horizon, context.camera))
