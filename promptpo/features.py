"""What a run asks for beside asking, measuring, tuning and judging; nothing else of it is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptpo.run.allowance import allowance

if TYPE_CHECKING:
    from promptpo.run.config import Config
    from promptpo.run.spender import Spender
    from promptpo.search.filming import Camera
    from promptpo.search.sampler import Sampler
    from promptpo.spec import TaskSpec


def asked_for(
    sampler: Sampler,
    spec: TaskSpec,
    spender: Spender,
    config: Config,
    threshold: float | None,
    camera: Camera | None,
) -> None:
    """Hang on the sampler what the configuration asks for.

    Args:
        sampler: Of the run.
        spec: With the spaces.
        spender: Asks and rolls out.
        config: What decides the run.
        threshold: Mean return at which the search may end.
        camera: Makes film strips of episodes; None where nobody can.
    """
    features, horizon = sampler.features, sampler.horizon
    if config.teacher is not None:
        from promptpo.search.teacher import Pupil

        features.hang(Pupil(sampler, spender, spec, config))
    if allowance(config, spender.llm) is not None:
        from promptpo.search.probing import Experimenter

        features.hang(Experimenter(spec, spender, config, horizon, features))
    if config.switches.world:
        from promptpo.world.search import WorldSearch

        features.hang(WorldSearch(spec, sampler, spender, config, horizon, threshold))
    if config.shows_frames(spender.llm):
        from promptpo.search.filming import Filming

        features.hang(Filming(spec, spender, config, horizon, camera))
