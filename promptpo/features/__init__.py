"""Features of a run beyond asking, evaluating, tuning and selecting; each is imported only if it is on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptpo.core.budget import allowance, simulates

if TYPE_CHECKING:
    from promptpo.core.feature import SearchContext
    from promptpo.core.sample import Sampler


def install_features(context: SearchContext, sampler: Sampler) -> None:
    """Hang on the sampler what the configuration asks for."""
    from promptpo.features.references.feature import References
    from promptpo.features.tuning.feature import Tuner

    features, config = sampler.features, context.config
    features.register(References(context))
    if config.teacher is not None:
        from promptpo.features.teacher.feature import Pupil

        features.register(Pupil(context))
    if (allowed := allowance(config, context.spender.llm)) is not None:
        from promptpo.features.experiments.feature import Experimenter

        features.register(Experimenter(context, allowed, features))
    if simulates(config, context.spender.llm):
        from promptpo.features.simulator.feature import SimulatorSearch

        features.register(SimulatorSearch(context, sampler))
    if config.switches.tune:
        features.register(Tuner(context, sampler.measurer))
    if context.camera is not None:
        from promptpo.features.film.feature import Filming

        features.register(Filming(context, context.camera))
