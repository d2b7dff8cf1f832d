"""The protocol between the optimizer and the providers that answer its prompts."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field, replace
from functools import cached_property, reduce
from operator import add
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args, runtime_checkable

from promptpo_sandbox.text import clean_answer, clean_name

if TYPE_CHECKING:
    from collections.abc import Callable

    import gymnasium

CallPurpose = Literal[
    "policy",
    "repair",
    "reflection",
    "feedback",
    "spec",
    "simulator",
    "probe",
    "reward",
    "judge",
    "check",
]
Finish = Literal["stop", "length", "refusal"]
Effort = Literal["low", "medium", "high"]

ALL_PURPOSES: frozenset[CallPurpose] = frozenset(get_args(CallPurpose))
"""Purposes that a language model can serve."""

PNG = b"\x89PNG\r\n\x1a\n"

TOKENS_PER_IMAGE = 1000
"""Approximate number of tokens that services count for an image."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more language-model calls.

    Attributes:
        input_tokens: Prompt tokens, including cached ones.
        cached_input_tokens: Prompt tokens read from a cache.
        output_tokens: Generated tokens, including reasoning.
        reasoning_tokens: Generated tokens of reasoning, if the provider reports them.
        estimated_tokens: Input and output tokens that were estimated from the length of the texts.
        cache_write_tokens: Prompt tokens written to a cache.
    """

    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    estimated_tokens: int = 0
    cache_write_tokens: int = field(default=0, compare=False)

    def __add__(self, other: Usage) -> Usage:
        return Usage(*map(add, astuple(self), astuple(other)))

    @property
    def total(self) -> int:
        """Input and output tokens."""
        return self.input_tokens + self.output_tokens


_SEEING = {
    "anthropic": re.compile(r"claude-(?!1|2|instant)"),
    "openai": re.compile(
        r"(?:chatgpt-|gpt-4o|gpt-4\.[1-9]|gpt-4-turbo|gpt-[5-9]|o1(?!-mini|-preview)|o3(?!-mini)|o4)"
    ),
}


@dataclass(frozen=True)
class Image:
    """An image of a message, shown after the text.

    Attributes:
        caption: Its caption, shown before it.
        png: The contents of the PNG file.
        path: The path of the file, for providers that pass on paths; empty if there is none.
    """

    caption: str
    png: bytes = field(repr=False)
    path: str = ""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the file."""
        return hashlib.sha256(self.png).hexdigest()

    @property
    def base64(self) -> str:
        """The file in base64."""
        return base64.b64encode(self.png).decode()


def accepts_images(provider: str, model: str) -> bool | None:
    """Return whether a service's model accepts images; None if unknown."""
    known = _SEEING.get(provider)
    return True if known and known.match(model.lower().rpartition("/")[2]) else None


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation.

    Attributes:
        role: Its speaker.
        content: Its text.
        images: Images after the text, for models with vision.
    """

    role: Literal["user", "assistant"]
    content: str
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class PriorCandidate:
    """An earlier candidate, for providers that do not read the prompt."""

    source: str
    outcome: str
    score: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Situation:
    """The contents of a prompt as values, for providers that do not read it.

    Attributes:
        observation_space: The policy's inputs.
        action_space: The policy's outputs.
        round: Number of the round, from 1.
        slot: Position among the round's samples, from 0.
        seed: Run seed.
        tried: All earlier candidates of the run, oldest first.
        seen: Observations under random actions.
        names: Names of the parts of an observation, for example ``obs[0]`` to ``cart_position``.
    """

    observation_space: gymnasium.Space[Any]
    action_space: gymnasium.Space[Any]
    round: int
    slot: int
    seed: int
    tried: tuple[PriorCandidate, ...] = ()
    seen: tuple[Any, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Request:
    """One call.

    Attributes:
        key: Name of the call in its run, for example "r2.c3" or "r2.c3.repair1"; it identifies the call in the
            journal and for replay.
        purpose: The purpose of the answer.
        system: System prompt; the same for all calls of a run, so that providers can cache it.
        messages: The conversation, ending with a user turn.
        stable_messages: Number of leading messages that later calls share, so that providers can cache them.
        max_output_tokens: Limit for the answer.
        temperature: Sampling temperature; None for the provider's default, which some models require.
        effort: Reasoning effort; None for the provider's default.
        top_logprobs: Number of most likely first tokens to return with the answer; 0 for none. Providers without
            log-probabilities ignore it.
        situation: The same facts as values; None unless the purpose is "policy".
        on_chunk: Callback that streaming providers call with the number of characters received so far.
        may_ask_again: Callback before each further paid call for this answer; records the call, or returns False if a
            limit forbids it.
        keeps_limit: Whether the user set `max_output_tokens`; otherwise it is raised if reasoning uses all of it.
    """

    key: str
    purpose: CallPurpose
    system: str
    messages: tuple[Message, ...]
    stable_messages: int = 0
    max_output_tokens: int = 8192
    temperature: float | None = None
    effort: Effort | None = None
    top_logprobs: int = 0
    situation: Situation | None = field(default=None, compare=False, repr=False)
    on_chunk: Callable[[int], object] = field(default=lambda _: None, compare=False, repr=False)
    may_ask_again: Callable[[], bool] = field(default=lambda: True, compare=False, repr=False)
    keeps_limit: bool = False

    @property
    def images(self) -> tuple[Image, ...]:
        """All images of the conversation."""
        return tuple(image for message in self.messages for image in message.images)

    def without_images(self) -> Request:
        """Return the request without images, for a model without vision."""
        return replace(self, messages=tuple(replace(message, images=()) for message in self.messages))


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer of a provider.

    Its text and model name are cleaned on construction, since foreign text enters here (see `promptpo_sandbox.text`).
    Zero-width characters are dropped; control characters are replaced by Python's escapes, so that they keep their
    meaning in a program's string literals.

    Attributes:
        text: The text.
        model: The model that answered, according to the provider.
        finish: "stop"; "length" if cut off at the token limit; "refusal" if the model declined.
        usage: Tokens used.
        cost_usd: Cost in US dollars, 0.0 for embedded and replayed answers; None if unknown.
        seconds: Time from sending to the last token.
        provider: Name of the provider that answered, if there are several; else empty.
        logprobs: The most likely first tokens with their log-probabilities, if requested and available.
        calls: Number of calls made, including those without text, which also cost money.
    """

    text: str
    model: str
    finish: Finish = "stop"
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    seconds: float = 0.0
    provider: str = ""
    logprobs: Mapping[str, float] = field(default_factory=dict)
    calls: int = 1

    def __post_init__(self) -> None:
        if isinstance(self.text, str):  # the conformance check reports other types
            object.__setattr__(self, "text", clean_answer(self.text))
        if isinstance(self.model, str):
            object.__setattr__(self, "model", clean_name(self.model))


CHARACTERS_PER_TOKEN = 4


def estimate_usage(request: Request, text: str) -> Usage:
    """Estimate the tokens of a call: one for four characters of prompt and answer, plus those of images."""
    prompt = len(request.system) + sum(len(message.content) for message in request.messages)
    asked, answered = (-(-length // CHARACTERS_PER_TOKEN) for length in (prompt, len(text)))
    asked += TOKENS_PER_IMAGE * len(request.images)
    return Usage(asked, 0, answered, estimated_tokens=asked + answered)


def read_count(usage: Any, *names: str) -> Any:
    """Return a service's token count under the first of these names that it has, dotted if nested; 0 if none."""
    for name in names:
        found = reduce(lambda value, part: getattr(value, part, None), name.split("."), usage)
        if found:
            return found
    return 0


class Pricing(Protocol):
    """Computes the cost of calls."""

    def cost(self, usage: Usage) -> float | None:
        """Return the cost of tokens in US dollars; None if a price is missing."""
        ...


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Capabilities of a provider, and properties of its calls.

    Attributes:
        purposes: Purposes it can serve; program search, for example, only writes policies.
        language_model: Whether it is a language model; False for program search.
        sees: Whether it accepts images (`Message.images`); None if unknown.
        takes_effort: Whether it supports `Request.effort`.
        stays_here: Whether promptpo sends prompts nowhere but to this machine.
        repeats: Whether the same request can be made again at no cost; pending requests are then dropped when a search
            ends.
        price: Price of its tokens; None if unknown or free.
        price_known: Whether the cost of a call is known; if not, a limit on money is refused before the first call.
    """

    purposes: frozenset[CallPurpose] = ALL_PURPOSES
    language_model: bool = True
    sees: bool | None = False
    takes_effort: bool = False
    stays_here: bool = False
    repeats: bool = False
    price: Pricing | None = None
    price_known: bool = True


@runtime_checkable
class CheckedLLM(Protocol):
    """A provider that can check its key, server and model at no cost."""

    async def check(self) -> str | None:
        """Return a warning, empty if all is well; None if only a paid call can tell."""
        ...


@runtime_checkable
class LLM(Protocol):
    """A provider that answers requests, many of them concurrently.

    Attributes:
        name: Its name as for ``--model``, for example "openai:gpt-5.2".
        capabilities: Its capabilities; they may change as calls reveal them, so they are not cached.
    """

    name: str

    @property
    def capabilities(self) -> Capabilities:
        """Its capabilities."""
        ...

    async def complete(self, request: Request) -> Completion:
        """Answer one request.

        Raises:
            ProviderError: The request failed, retries included; the message is one sentence.
            FatalProviderError: It failed, and later calls would fail as well.
        """
        ...

    async def aclose(self) -> None:
        """Release connections; calling it twice is harmless."""
        ...


@runtime_checkable
class Ensemble(Protocol):
    """A provider that passes each call to one of several.

    Attributes:
        writers: The providers that write policies.
        repairer: The provider that repairs policies; None for the one that wrote the policy.
        members: All providers.
    """

    writers: tuple[LLM, ...]
    repairer: LLM | None
    members: tuple[LLM, ...]


def members_of(llm: LLM) -> tuple[LLM, ...]:
    """Return the members of an ensemble, or the provider itself."""
    return llm.members if isinstance(llm, Ensemble) else (llm,)
