"""The protocol between the optimizer and whatever answers its prompts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, get_args, runtime_checkable

from promptpo.errors import ProviderError

if TYPE_CHECKING:
    from typing import Any

    import gymnasium

Purpose = Literal["policy", "repair", "reflection", "feedback", "spec"]
Finish = Literal["stop", "length", "refusal"]

ALL_PURPOSES: frozenset[Purpose] = frozenset(get_args(Purpose))
"""What a language model can answer."""


class FatalProviderError(ProviderError):
    """No later call can succeed either: a wrong key, an unknown model, an exhausted recording.

    A plain `ProviderError` concerns one call; the next may succeed.
    """


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more language-model calls; cached tokens are part of the input tokens."""

    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.cached_input_tokens + other.cached_input_tokens,
            self.output_tokens + other.output_tokens,
        )


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Tried:
    """An earlier candidate, as a provider without language understanding needs to know it."""

    id: str
    source: str
    outcome: str
    score: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Situation:
    """What the prompt says, as values: for providers that compute instead of reading.

    Attributes:
        observation_space: What the policy sees.
        action_space: What it returns.
        horizon: Episode length in steps; None when unbounded.
        round: Counted from 1.
        slot: Which of the round's N samples this is, from 0.
        seed: Run seed.
        tried: All earlier candidates of the run, oldest first.
    """

    observation_space: gymnasium.Space[Any]
    action_space: gymnasium.Space[Any]
    horizon: int | None
    round: int
    slot: int
    seed: int
    tried: tuple[Tried, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """One call.

    Attributes:
        key: Name of the call inside its run, for example "r2.c3" or "r2.c3.repair1"; the journal and
            the replay provider know a call by it.
        purpose: What the answer is for.
        system: System prompt; the same for all calls of a run.
        messages: The conversation, ending with a user turn.
        stable_messages: How many leading messages are identical in the calls to come, so that a
            provider can mark them for prompt caching.
        max_output_tokens: Limit for the answer.
        temperature: None leaves the provider's default (and some models accept nothing else).
        situation: The same facts as values; None where the purpose is not "policy".
    """

    key: str
    purpose: Purpose
    system: str
    messages: tuple[Message, ...]
    stable_messages: int = 0
    max_output_tokens: int = 8192
    temperature: float | None = None
    situation: Situation | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer, as it came.

    Attributes:
        text: The raw text.
        model: The model that the provider says answered.
        finish: "stop"; "length" when cut off at the token limit; "refusal" when the model declined.
        usage: Tokens used.
        cost_usd: Price, where it is known; 0.0 for local and embedded providers.
        seconds: From sending to the last token.
    """

    text: str
    model: str
    finish: Finish = "stop"
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    seconds: float = 0.0


@runtime_checkable
class LLM(Protocol):
    """Answers requests; many may be in flight at once.

    Attributes:
        name: What ``--model`` would say, for example "openai:gpt-5.2".
        purposes: What it can answer; program search, say, writes policies and nothing else.
        language_model: False for program search.
    """

    name: str
    purposes: frozenset[Purpose]
    language_model: bool

    async def complete(self, request: Request) -> Completion:
        """Answer one request.

        Raises:
            ProviderError: It cannot be answered, after the SDK's own retries; one sentence.
            FatalProviderError: The same, and no later call can be answered either.
        """
        ...

    async def aclose(self) -> None:
        """Release connections; calling it twice is harmless."""
        ...
