"""The protocol between the optimizer and whatever answers its prompts."""

from __future__ import annotations

import base64
import hashlib
import re
import struct
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
"""What a language model can answer."""

PNG = b"\x89PNG\r\n\x1a\n"

PIXELS_PER_TOKEN = 750
"""About how many pixels a service counts as one token."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more language-model calls.

    Attributes:
        input_tokens: Of the prompt, cached ones included.
        cached_input_tokens: Those of the prompt that were read from a cache.
        output_tokens: Generated, reasoning included.
        reasoning_tokens: Those generated that are reasoning and not text, where the provider says so.
        estimated_tokens: How many of the input and output tokens nobody counted; they are estimated
            from the length of the texts.
        cache_write_tokens: Those of the prompt that were written to a cache.
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
        """Input and output together."""
        return self.input_tokens + self.output_tokens


_SEEING = {
    "anthropic": re.compile(r"claude-(?!1|2|instant)"),
    "openai": re.compile(
        r"(?:chatgpt-|gpt-4o|gpt-4\.[1-9]|gpt-4-turbo|gpt-[5-9]|o1(?!-mini|-preview)|o3(?!-mini)|o4)"
    ),
}


@dataclass(frozen=True)
class Still:
    """One picture of a message, shown behind its text.

    Attributes:
        caption: What it shows; stands before it.
        png: The PNG file.
        path: Where that file lies, for providers that hand on paths; empty where it lies nowhere.
    """

    caption: str
    png: bytes = field(repr=False)
    path: str = ""

    @cached_property
    def digest(self) -> str:
        """Of the file."""
        return hashlib.sha256(self.png).hexdigest()

    @property
    def base64(self) -> str:
        """The file as text."""
        return base64.b64encode(self.png).decode()

    @property
    def tokens(self) -> int:
        """About how many it counts as; none for what is no PNG file."""
        if not self.png.startswith(PNG) or len(self.png) < 24:  # noqa: PLR2004 - where its header ends
            return 0
        width, height = struct.unpack(">II", self.png[16:24])
        return int(-(-width * height // PIXELS_PER_TOKEN))


def accepts_images(provider: str, model: str) -> bool | None:
    """Whether a model of a service takes pictures; None where that is not known."""
    known = _SEEING.get(provider)
    return True if known and known.match(model.lower().rpartition("/")[2]) else None


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation.

    Attributes:
        role: Whose.
        content: Its text.
        stills: Pictures that follow it, for models that see.
    """

    role: Literal["user", "assistant"]
    content: str
    stills: tuple[Still, ...] = ()


@dataclass(frozen=True, slots=True)
class Tried:
    """An earlier candidate, as a provider without language understanding needs to know it."""

    source: str
    outcome: str
    score: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Situation:
    """Contents of the prompt as values, for providers that compute instead of reading.

    Attributes:
        observation_space: What the policy sees.
        action_space: What it returns.
        round: Counted from 1.
        slot: Which of the round's N samples this is, from 0.
        seed: Run seed.
        tried: All earlier candidates of the run, oldest first.
        seen: Observations under random actions.
        names: What parts of an observation are called, such as ``obs[0]`` to ``cart_position``.
    """

    observation_space: gymnasium.Space[Any]
    action_space: gymnasium.Space[Any]
    round: int
    slot: int
    seed: int
    tried: tuple[Tried, ...] = ()
    seen: tuple[Any, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Request:
    """One call.

    Attributes:
        key: Name of the call inside its run, for example "r2.c3" or "r2.c3.repair1"; the journal and
            the replay provider know a call by it.
        purpose: What the answer is for.
        system: System prompt; the same for all calls of a run, so that providers can have it cached.
        messages: The conversation, ending with a user turn.
        stable_messages: How many leading messages are the same in calls to come, so that providers can have them cached.
        max_output_tokens: Limit for the answer.
        temperature: None leaves the provider's default (and some models accept nothing else).
        effort: How hard a reasoning model should think; None leaves the provider's default.
        top_logprobs: How many of the likeliest first tokens the answer is to come with; 0 asks for none, and
            providers that know of none ignore it.
        situation: The same facts as values; None where the purpose is not "policy".
        heard: Told how many characters of the answer have arrived, by providers whose answers are streamed.
        may_ask_again: Asked before each further paid call for this answer; announces it, or says that a limit forbids it.
        keeps_limit: Whether `max_output_tokens` is the user's own; else it grows where reasoning has used all of it.
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
    heard: Callable[[int], object] = field(default=lambda _: None, compare=False, repr=False)
    may_ask_again: Callable[[], bool] = field(default=lambda: True, compare=False, repr=False)
    keeps_limit: bool = False

    @property
    def stills(self) -> tuple[Still, ...]:
        """All pictures of the conversation."""
        return tuple(still for message in self.messages for still in message.stills)

    def without_stills(self) -> Request:
        """The same call in words alone, for a model that does not see."""
        return replace(self, messages=tuple(replace(message, stills=()) for message in self.messages))


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer, as it came.

    Its text and its model's name are cleaned when it is made (see `promptpo_sandbox.text`): this is where foreign text
    enters. Characters of no width are dropped; control characters are written out as Python writes them, so that in
    the texts of a program they mean what they meant.

    Attributes:
        text: The text.
        model: The model that the provider says answered.
        finish: "stop"; "length" when cut off at the token limit; "refusal" when the model declined.
        usage: Tokens used.
        cost_usd: Price, where it is known; 0.0 for local and embedded providers.
        seconds: From sending to the last token.
        provider: Name of the provider that was asked, where there are several; else empty.
        logprobs: The likeliest first tokens with their log-probabilities, where they were asked for and given.
        calls: How many it took; those without text are paid for, too.
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
        if isinstance(self.text, str):  # the conformance check says so where it is not
            object.__setattr__(self, "text", clean_answer(self.text))
        if isinstance(self.model, str):
            object.__setattr__(self, "model", clean_name(self.model))


CHARACTERS_PER_TOKEN = 4


def estimate_usage(request: Request, text: str) -> Usage:
    """Estimate the tokens of a call that nobody counts: one for four characters of prompt and answer."""
    prompt = len(request.system) + sum(len(message.content) for message in request.messages)
    asked, answered = (-(-length // CHARACTERS_PER_TOKEN) for length in (prompt, len(text)))
    asked += sum(still.tokens for still in request.stills)
    return Usage(asked, 0, answered, estimated_tokens=asked + answered)


def read_count(usage: Any, *names: str) -> Any:
    """Return a service's token count under the first of some names it has, dotted if nested, unchanged."""
    for name in names:
        found = reduce(lambda value, part: getattr(value, part, None), name.split("."), usage)
        if found:
            return found
    return 0


class Pricing(Protocol):
    """Prices of calls."""

    def cost(self, usage: Usage) -> float | None:
        """US dollars for some tokens; None where a price is missing."""
        ...


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Capabilities of a provider, and properties of its calls.

    Attributes:
        purposes: What it can answer; program search, say, writes policies and nothing else.
        language_model: False for program search.
        sees: Whether it is shown pictures (`Message.stills`); None where that is not known.
        takes_effort: Whether it heeds `Request.effort`.
        stays_here: Whether prompts stay on this machine, as far as this program hands them on.
        repeats: Whether it can be asked again for the same answer at no cost; then it is not waited for when a search
            is ended.
        price: What a token costs; None where that is not known, or nothing is charged.
        price_known: Whether it is known what a call costs; where not, a limit on money is refused before anything is asked.
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
    """A provider that can try its key, server and model before anything is paid for."""

    async def check(self) -> str | None:
        """A warning, empty if all is well; None where only a small call can tell."""
        ...


@runtime_checkable
class LLM(Protocol):
    """Answers requests; many may be in flight at once.

    Attributes:
        name: What ``--model`` would say, for example "openai:gpt-5.2".
        capabilities: What it can do; it may be found out in time, so it is read anew where it matters.
    """

    name: str

    @property
    def capabilities(self) -> Capabilities:
        """Its capabilities."""
        ...

    async def complete(self, request: Request) -> Completion:
        """Answer one request.

        Raises:
            ProviderError: It cannot be answered, retries included; one sentence.
            FatalProviderError: The same, and no later call can be answered either.
        """
        ...

    async def aclose(self) -> None:
        """Release connections; calling it twice is harmless."""
        ...


@runtime_checkable
class Ensemble(Protocol):
    """A provider that asks one of several for each call.

    Attributes:
        writers: They write policies.
        repairer: Asked for repairs; None leaves them to whoever wrote the policy.
        members: All of them.
    """

    writers: tuple[LLM, ...]
    repairer: LLM | None
    members: tuple[LLM, ...]


def members_of(llm: LLM) -> tuple[LLM, ...]:
    """The models that a provider asks: those of an ensemble, or itself."""
    return llm.members if isinstance(llm, Ensemble) else (llm,)
