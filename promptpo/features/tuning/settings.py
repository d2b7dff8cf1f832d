"""Whether a run tunes parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptpo.core.config import Config
from promptpo.core.feature import FeatureSettings

if TYPE_CHECKING:
    from promptpo.llm.base import LLM


class TuningSettings(FeatureSettings):
    """Tuning is on if the recipe's switch `tune` is."""

    def is_on(self, config: Config, llm: LLM) -> bool:  # noqa: ARG002
        """See `FeatureSettings.is_on`."""
        return config.switches.tune
