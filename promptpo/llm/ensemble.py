"""Several models behind one `LLM`: who answers which call.

Which model writes a policy depends on the call's key alone, never on the order in which answers come, so that a
resumed run asks the same models.
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
    """Several models, of which one answers each call.

    The samples of a round go to them in turn, the first one to another model in each round; what is asked for a sample
    again goes to the model that was asked first. Other calls go to the first model. Where a model can answer nothing any more, such
    as with a wrong key, the next one answers for it.

    Args:
        writers: They write policies; two of them may be the same model only with different names.
        repairer: Asked for repairs; None leaves them to whoever wrote the policy.

    Attributes:
        writers: As given.
        members: All models, the repairer included.
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
        self._gone: set[str] = set()

    @property
    def capabilities(self) -> Capabilities:
        """Their capabilities together. It sees if any of its writers does; a writer that does not see is asked in words."""
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
        """Have the right model answer.

        Raises:
            ProviderError: It cannot be answered.
            FatalProviderError: No model can answer any later call either.
        """
        failure: FatalProviderError | None = None
        for llm in self._order(request):
            try:
                completion = await llm.complete(request)
            except FatalProviderError as error:
                failure = error
                if llm.name not in self._gone:
                    self._gone.add(llm.name)
                    logger.warning("%s no longer answers: %s", clean_name(llm.name), error)
                continue
            return replace(completion, provider=llm.name)
        raise failure or FatalProviderError(f"none of the models answers requests for a {request.purpose}.")

    async def aclose(self) -> None:
        """Release the connections of all; calling it twice is harmless."""
        for llm in self.members:
            await llm.aclose()

    def _order(self, request: Request) -> list[LLM]:
        """Who is asked first, and who instead of it, in the order in which they are named."""
        place, first = _PLACE.match(request.key), self.writers[0]
        if request.purpose == "repair" and self.repairer is not None and not request.key.endswith(".again"):
            first = self.repairer
        elif place is not None:
            first = self.writers[(int(place[1]) + int(place[2]) - 2) % len(self.writers)]
        able = [llm for llm in self.members if request.purpose in llm.capabilities.purposes]
        return sorted(able, key=lambda llm: llm is not first)
