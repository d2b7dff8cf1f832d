"""Whether a run shows film strips."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptpo.core.config import Config, FeatureSettings

if TYPE_CHECKING:
    from promptpo.llm.base import LLM


class FilmSettings(FeatureSettings):
    """Those of prompts decide."""

    def is_on(self, config: Config, llm: LLM) -> bool:
        """See `FeatureSettings.is_on`."""
        return config.shows_frames(llm)
