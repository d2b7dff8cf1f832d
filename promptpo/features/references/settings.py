"""The budget of reference policies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptpo.core.budget import ALLOTMENTS, Allotment, step_allotment
from promptpo.core.config import Config
from promptpo.core.feature import FeatureSettings

if TYPE_CHECKING:
    from promptpo.llm.base import LLM

ALLOTMENTS["reference"] = Allotment(  # episodes of each
    "reference",
    "reference policies: random, zero and constant actions",
    0.05,
    0,
    20,
    optional=True,
    demand=lambda config, *_: (step_allotment("reference", config.budget.steps), 0, ""),
)


class ReferenceSettings(FeatureSettings):
    """Reference policies are always on."""

    def is_on(self, config: Config, llm: LLM) -> bool:  # noqa: ARG002
        """See `FeatureSettings.is_on`."""
        return True
