"""Several models behind one `LLM`: who answers which call.

Which model writes a policy depends on the call's key alone, or on what was allotted to its round, never on the
order in which answers come, so that a resumed run asks the same models. What a model has brought, which an
allotment may follow, is weighed in `promptpo.search.model_choice`.
"""

from __future__ import annotations

import hashlib
import itertools
import logging
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal

from promptpo.errors import FatalProviderError, UsageError
from promptpo.llm.choose import ADDRESSED, SEARCH, choose, make_llm
from sandbox.text import clean_name

if TYPE_CHECKING:
    from promptpo.llm.base import LLM, Completion, Purpose, Request

ModelChoiceName = Literal["weights", "bandit"]

GOLDEN = (math.sqrt(5) - 1) / 2
"""Steps of this size around a circle cover it more evenly than random ones, however many there are."""

_WEIGHTED = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)=(.*)", re.DOTALL)
"""No provider's name begins with a digit or a dot, so a weight can only be a weight, whatever commands contain."""

_PLACE = re.compile(r"r(\d+)\.c(\d+)(?:\.|$)")

logger = logging.getLogger(__name__)


class EnsembleLLM:
    """Several models, of which one answers each call.

    The samples of a round are divided by weight, or as `allot` says; what is asked for a sample again goes to the
    model that was asked first. Other calls go to the first model. Where a model can answer nothing any more, such
    as with a wrong key, the next one answers for it.

    Args:
        writers: They write policies; two of them may be the same model only with different names.
        weights: How often each is asked; the same for all where there are none.
        repairer: Asked for repairs; None leaves them to whoever wrote the policy.
        seed: Decides the division, with the round.

    Attributes:
        writers: As given.
        members: All models, the repairer included.
        written: The writers as ``--model`` would say them, weights included.
        repairer: As given.
    """

    language_model = True

    def __init__(
        self,
        writers: Sequence[LLM],
        *,
        weights: Sequence[float] = (),
        repairer: LLM | None = None,
        seed: int = 0,
    ) -> None:
        self.writers = tuple(writers)
        self.repairer = repairer
        self.members = (*self.writers, *((repairer,) if repairer is not None else ()))
        if not self.writers or len({llm.name for llm in self.writers}) < len(self.writers):
            raise UsageError("each of several models is named once; a weight asks one more often: 2=MODEL.")
        for llm in self.members:
            if not llm.language_model:
                raise UsageError(f"{llm.name} is no language model, so it cannot be one of several models.")
        self._weights = tuple(weights) or (1.0,) * len(self.writers)
        self._seed = seed
        self.written = tuple(
            name_with_weight(llm.name, weight)
            for llm, weight in zip(self.writers, self._weights, strict=True)
        )
        self.name = " + ".join(self.written) + (f", repairs: {repairer.name}" if repairer else "")
        self.purposes: frozenset[Purpose] = frozenset().union(*(llm.purposes for llm in self.members))
        self.takes_effort = any(getattr(llm, "takes_effort", False) for llm in self.members)
        self.repeats = all(getattr(llm, "repeats", False) for llm in self.members)
        self._allotted: dict[int, tuple[str, ...]] = {}
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

    def allot(self, round_: int, names: Sequence[str]) -> None:
        """Say which model writes each sample of a round, by slot."""
        self._allotted[round_] = tuple(names)

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
        """Who is asked first, and who instead of it."""
        able = [llm for llm in self.members if request.purpose in llm.purposes]
        first = self._chosen(request)
        return sorted(
            able, key=lambda llm: llm is not first
        )  # the others in the order in which they are named

    def _chosen(self, request: Request) -> LLM:
        mends = request.purpose == "repair" and not request.key.endswith(".again")
        if mends and self.repairer is not None:
            return self.repairer
        place = _PLACE.match(request.key)
        if place is None:
            return self.writers[0]
        round_, slot = int(place[1]), int(place[2]) - 1
        allotted = self._allotted.get(round_, ())
        if slot < len(allotted):
            return next(llm for llm in self.writers if llm.name == allotted[slot])
        return self.writers[by_weight(self._weights, round_, slot, self._seed)]


def by_weight(weights: Sequence[float], round_: int, slot: int, seed: int) -> int:
    """Which of several is chosen for a sample: evenly within a round, and at random from round to round."""
    digest = hashlib.blake2b(f"promptpo models {seed} {round_}".encode(), digest_size=8).digest()
    around = (int.from_bytes(digest, "little") / 2**64 + slot * GOLDEN) % 1.0
    ends = list(itertools.accumulate(weights))
    return next((i for i, end in enumerate(ends) if around * ends[-1] < end), len(ends) - 1)


def weighted(written: str) -> tuple[float, str]:
    """The weight and the model that ``WEIGHT=MODEL`` says; 1 where there is no weight.

    Raises:
        UsageError: The weight is 0, or nothing follows it.
    """
    found = _WEIGHTED.fullmatch(written)
    if found is None:
        return 1.0, written
    weight, name = float(found[1]), found[2].strip()
    if not 0 < weight < math.inf or not name:
        raise UsageError(f"a model with a weight is written 2=MODEL, the weight more than 0, not {written}.")
    return weight, name


def name_with_weight(name: str, weight: float) -> str:
    """The reverse of `weighted`."""
    return name if weight == 1 else f"{weight:g}={name}"


def make_models(
    model: str | None,
    models: Sequence[str] = (),
    *,
    repair_model: str | None = None,
    choice: ModelChoiceName = "weights",
    seed: int = 0,
    base_url: str | None = None,
    price: tuple[float, float] | None = None,
    search: Callable[[], LLM] | None = None,
    **options: Any,
) -> LLM:
    """The provider for one model, or for several.

    Args:
        model: As for `promptpo.llm.choose.choose`, where there is one model that writes.
        models: Those that write, each as ``MODEL`` or ``WEIGHT=MODEL``, where there are several.
        repair_model: Who repairs; None leaves it to whoever wrote the policy.
        choice: How the writers share the samples.
        seed: Decides the division by weight.
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
    pairs = [weighted(one) for one in models] or [(1.0, choose(model).name)]
    if choice == "bandit" and any(weight != 1 for weight, _ in pairs):
        raise UsageError("--model-choice bandit chooses by what models bring; leave out their weights.")
    names = [
        choose(name) for name in (*(name for _, name in pairs), *((repair_model,) if repair_model else ()))
    ]
    for one in names:
        if one.provider == SEARCH:
            raise UsageError("search is no language model, so it cannot be one of several models.")
    if base_url and not any(one.provider in ADDRESSED for one in names):
        raise UsageError(f"--base-url needs --model openai:NAME or anthropic:NAME, not {names[0].name}.")
    made = [
        make_llm(one.name, base_url=base_url if one.provider in ADDRESSED else None, **options)
        for one in names
    ]
    return EnsembleLLM(
        made[: len(pairs)],
        weights=[weight for weight, _ in pairs],
        repairer=made[-1] if repair_model else None,
        seed=seed,
    )


def one_or_several(model: str | Sequence[str] | None) -> tuple[Any, Any]:
    """What was given as a model, as the settings `model` and `models`."""
    if model is None or isinstance(model, str) or not isinstance(model, Sequence):
        given: Any = model
        return (weighted(given)[1] if isinstance(given, str) else given), ()
    if len(model) == 1 and isinstance(model[0], str):
        return weighted(model[0])[1], ()
    return None, tuple(model)


def public_name(llm: LLM) -> str:
    """What an ensemble is called where a policy is passed on: without local paths and arguments of commands."""
    return " + ".join(_public(member.name) for member in getattr(llm, "members", (llm,)))


def _public(name: str) -> str:
    kind, _, rest = name.partition(":")
    if kind == "exec":
        return f"exec:{PurePath(rest.split()[0]).name if rest.split() else ''}"
    return f"{kind}:{PurePath(rest).name}" if kind in {"replay", "inbox"} else name
