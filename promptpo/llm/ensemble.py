"""Several models behind one `LLM`: who answers which call.

Which model writes a policy depends on the call's key alone, never on the order in which answers come, so that a
resumed run asks the same models.
"""

from __future__ import annotations

import logging
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from promptpo.errors import FatalProviderError, UsageError
from promptpo.llm.choose import ADDRESSED, choose, make_llm
from promptpo_sandbox.text import clean_name

if TYPE_CHECKING:
    from promptpo.llm.base import LLM, Completion, Purpose, Request

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

    language_model = True

    def __init__(self, writers: Sequence[LLM], *, repairer: LLM | None = None) -> None:
        self.writers, self.repairer = tuple(writers), repairer
        self.members = (*self.writers, *filter(None, [repairer]))
        if not self.writers or len({llm.name for llm in self.writers}) < len(self.writers):
            raise UsageError("each of several models is named once.")
        for llm in self.members:
            if not llm.language_model:
                raise UsageError(f"{llm.name} is no language model, so it cannot be one of several models.")
        repairs = f", repairs: {repairer.name}" if repairer else ""
        self.name = " + ".join(llm.name for llm in self.writers) + repairs
        self.purposes: frozenset[Purpose] = frozenset().union(*(llm.purposes for llm in self.members))
        self.takes_effort = any(getattr(llm, "takes_effort", False) for llm in self.members)
        self.repeats = all(getattr(llm, "repeats", False) for llm in self.members)
        self._gone: set[str] = set()

    @property
    def sees(self) -> bool | None:
        """Whether any of those that write does; each that does not is asked in words."""
        found = {getattr(llm, "sees", False) for llm in self.writers}
        return True if True in found else None if None in found else False

    @property
    def price_known(self) -> bool:
        """Whether every model's is."""
        return all(getattr(llm, "price_known", True) for llm in self.members)

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
                    logger.warning("%s answers nothing any more: %s", clean_name(llm.name), error)
                continue
            return replace(completion, provider=llm.name)
        raise failure or FatalProviderError(f"none of the models answers calls for a {request.purpose}.")

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
        able = [llm for llm in self.members if request.purpose in llm.purposes]
        return sorted(able, key=lambda llm: llm is not first)


def make_models(
    model: str | None,
    models: Sequence[str] = (),
    *,
    repair_model: str | None = None,
    base_url: str | None = None,
    price: tuple[float, float] | None = None,
    search: Callable[[], LLM] | None = None,
    **options: Any,
) -> LLM:
    """The provider for one model, or for several.

    Args:
        model: As for `promptpo.llm.choose.choose`, where there is one model that writes.
        models: Those that write, where there are several.
        repair_model: Who repairs; None leaves it to whoever wrote the policy.
        base_url: Address of a compatible server, for all models that can have one.
        price: US dollars per million input and output tokens, of a single model.
        search: Makes what writes policies without a language model.
        **options: For `make_llm`.

    Raises:
        UsageError: A model cannot be used as given.
        MissingKeyError: No API key where one is needed.
        MissingExtraError: A package that one of them needs is not installed.
    """
    if not models and repair_model is None:
        return make_llm(model, base_url=base_url, price=price, search=search, **options)
    if price is not None:
        raise UsageError(
            "--price is for a single model; for several, name a file with the price of each in PROMPTPO_PRICES."
        )
    writers = [*models] or [choose(model).name]
    names = [choose(name) for name in (*writers, *filter(None, [repair_model]))]
    if base_url and not any(one.provider in ADDRESSED for one in names):
        raise UsageError(f"--base-url needs --model openai:NAME or anthropic:NAME, not {names[0].name}.")
    made = [
        make_llm(one.name, base_url=base_url if one.provider in ADDRESSED else None, **options)
        for one in names
    ]
    return EnsembleLLM(made[: len(writers)], repairer=made[-1] if repair_model else None)


def one_or_several(model: str | Sequence[str] | None) -> tuple[Any, Any]:
    """What was given as a model, as the settings `model` and `models`."""
    if model is None or isinstance(model, str) or not isinstance(model, Sequence):
        return model, ()
    if len(model) == 1 and isinstance(model[0], str):
        return model[0], ()
    return None, tuple(model)


def public_name(llm: LLM) -> str:
    """What an ensemble is called where a policy is passed on."""
    return " + ".join(public(member.name) for member in getattr(llm, "members", (llm,)))


def public(name: str) -> str:
    """The name of a model without local paths and the arguments of a command."""
    kind, _, rest = name.partition(":")
    if kind == "exec":
        try:
            rest = (shlex.split(rest) or [""])[0]
        except ValueError:  # quotes that are not closed
            rest = ""
    return f"{kind}:{PurePath(rest).name}" if kind in {"exec", "replay", "inbox"} else name
