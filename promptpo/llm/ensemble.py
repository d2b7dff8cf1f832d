"""Several models behind one `LLM`.

The model for a call depends on the call's key alone, never on the order of answers, so that a resumed run asks the
same models.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from promptpo.errors import FatalProviderError, UsageError
from promptpo.llm.base import Capabilities
from promptpo_sandbox.text import clean_name

if TYPE_CHECKING:
    from promptpo.llm.base import LLM, Completion, Request

_PLACE = re.compile(r"r(\d+)\.c(\d+)(?:\.|$)")

logger = logging.getLogger(__name__)


class EnsembleLLM:
    """Several models, one of which answers each call.

    The samples of a round go to the writers in turn, beginning with another writer each round; further calls for a
    sample go to the same model. Other calls go to the first writer. If a model fails for good, for example because of a
    wrong key, the next one answers in its place.

    Args:
        writers: The models that write policies, with different names.
        repairer: The model that repairs policies; None for the one that wrote the policy.

    Attributes:
        writers: As given.
        members: All models, including the repairer.
        repairer: As given.
    """

    def __init__(self, writers: Sequence[LLM], *, repairer: LLM | None = None) -> None:
        self.writers, self.repairer = tuple(writers), repairer
        self.members = (*self.writers, *filter(None, [repairer]))
        if not self.writers or len({llm.name for llm in self.writers}) < len(self.writers):
            raise UsageError("name each model only once.")
        for llm in self.members:
            if not llm.capabilities.language_model:
                raise UsageError(
                    f"{llm.name} is not a language model, so it cannot be one of several models."
                )
        repairs = f", repairs: {repairer.name}" if repairer else ""
        self.name = " + ".join(llm.name for llm in self.writers) + repairs
        self._failed: set[str] = set()

    @property
    def capabilities(self) -> Capabilities:
        """The combined capabilities; it sees if any writer does, and a writer without vision gets the text alone."""
        each, seeing = (
            [llm.capabilities for llm in self.members],
            {llm.capabilities.sees for llm in self.writers},
        )
        return Capabilities(
            frozenset().union(*(can.purposes for can in each)),
            sees=True if True in seeing else None if None in seeing else False,
            takes_effort=any(can.takes_effort for can in each),
            stays_here=all(can.stays_here for can in each),
            repeats=all(can.repeats for can in each),
            price_known=all(can.price_known for can in each),
        )

    async def complete(self, request: Request) -> Completion:
        """Answer one request with the model that its key selects.

        Raises:
            ProviderError: The request failed.
            FatalProviderError: It failed for good with every model.
        """
        failure: FatalProviderError | None = None
        for llm in self._order(request):
            try:
                completion = await llm.complete(request)
            except FatalProviderError as error:
                failure = error
                if llm.name not in self._failed:
                    self._failed.add(llm.name)
                    logger.warning("%s no longer answers: %s", clean_name(llm.name), error)
                continue
            return replace(completion, provider=llm.name)
        raise failure or FatalProviderError(f"none of the models answers requests for a {request.purpose}.")

    async def aclose(self) -> None:
        """Release the connections of all models; calling it twice is harmless."""
        for llm in self.members:
            await llm.aclose()

    def _order(self, request: Request) -> list[LLM]:
        """Return the model to ask first, then its substitutes in the order of `members`."""
        place, first = _PLACE.match(request.key), self.writers[0]
        if request.purpose == "repair" and self.repairer is not None and not request.key.endswith(".again"):
            first = self.repairer
        elif place is not None:
            first = self.writers[(int(place[1]) + int(place[2]) - 2) % len(self.writers)]
        able = [llm for llm in self.members if request.purpose in llm.capabilities.purposes]
        return sorted(able, key=lambda llm: llm is not first)
