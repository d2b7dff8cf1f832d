"""Preferences between pairs of episodes, by a judge and by a reward program."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from promptpo.features.goals.prompts import Preference
from promptpo.program.reference_policies import REFERENCE_POLICIES
from promptpo.prompts.feedback import number

if TYPE_CHECKING:
    from promptpo_sandbox import Episode


@dataclass(frozen=True, slots=True)
class Preferences:
    """Preferences between episodes, with the episodes' returns.

    Attributes:
        pairs: (first, second, preferred) for each answered pair.
        returns: Returns by episode.
        parts: Sums of the reward's terms, by episode.
        successes: Results of the reward's ``success``, by episode, if it gives one.
    """

    pairs: tuple[tuple[str, str, Preference], ...]
    returns: Mapping[str, float]
    parts: Mapping[str, Mapping[str, float]]
    successes: Mapping[str, bool] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        pairs: Iterable[tuple[str, str]],
        said: Sequence[Preference | None],
        episodes: Mapping[str, Episode],
    ) -> Preferences:
        """Collect preferences; unanswered pairs and those with missing episodes are dropped."""
        answered = [
            (a, b, word)
            for (a, b), word in zip(pairs, said, strict=True)
            if word is not None and a in episodes and b in episodes
        ]
        return cls(
            tuple(answered),
            {name: episode.return_ for name, episode in episodes.items()},
            {name: dict(episode.parts) for name, episode in episodes.items()},
            {name: bool(e.success) for name, e in episodes.items() if e.success is not None},
        )

    def by(self, episodes: Mapping[str, Episode]) -> Preferences:
        """Return the same preferences with another program's returns for these episodes."""
        pairs, preferred = [pair[:2] for pair in self.pairs], [pair[2] for pair in self.pairs]
        return Preferences.of(pairs, preferred, episodes)

    @property
    def clear(self) -> list[tuple[str, str]]:
        """(preferred, other) for each pair with a preference."""
        return [(a, b) if word == "first" else (b, a) for a, b, word in self.pairs if word != "equal"]

    @property
    def against(self) -> list[tuple[str, str]]:
        """Those of `clear` that the reward orders differently."""
        return [(a, b) for a, b in self.clear if not self.returns[a] > self.returns[b] or self._same(a, b)]

    def _same(self, a: str, b: str) -> bool:
        return math.isclose(self.returns[a], self.returns[b], rel_tol=1e-6)

    def disagreements(self) -> list[str]:
        """Describe each pair that the reward orders differently."""
        return [
            f"Episode {a} comes closer to the goal than episode {b}, but returns {number(self.returns[a])} "
            f"and the other returns {number(self.returns[b])}{self._by_parts(a, b)}."
            for a, b in self.against
        ]

    def _by_parts(self, a: str, b: str) -> str:
        names = dict.fromkeys([*self.parts.get(a, {}), *self.parts.get(b, {})])
        parts = [
            f"{name} {number(self.parts[a].get(name, 0.0))} and {number(self.parts[b].get(name, 0.0))}"
            for name in names
        ]
        return f" (by parts: {', '.join(parts)})" if parts else ""

    @property
    def succeeded(self) -> dict[str, tuple[int, int]]:
        """Number of successful episodes and number of episodes, by policy."""
        found: dict[str, tuple[int, int]] = {}
        for name, success in self.successes.items():
            policy = name.split()[0]
            yes, of = found.get(policy, (0, 0))
            found[policy] = (yes + success, of + 1)
        return found

    @property
    def always_succeeds(self) -> bool:
        """See `always_succeed`."""
        return always_succeed(self.succeeded)

    def on_success(self) -> list[str]:
        """Describe how often each policy succeeds, with advice if all or none do."""
        if not self.successes:
            return []
        often = f"`success()` was true: {successes_in_words(self.succeeded)}."
        if self.always_succeeds:
            often += " So it distinguishes nothing: return True only where the goal is reached."
        elif not any(self.successes.values()):
            often += (
                " No policy succeeds yet: check in the tables how far these policies got, and whether what it requires can "
                "be reached at all; a bound that no policy reaches distinguishes nothing either."
            )
        return [often]


def always_succeed(succeeded: Mapping[str, Sequence[int]]) -> bool:
    """Whether every policy succeeds in every episode, including the reference policies."""
    return set(REFERENCE_POLICIES) <= succeeded.keys() and all(yes == of for yes, of in succeeded.values())


def successes_in_words(succeeded: Mapping[str, Sequence[int]]) -> str:
    """Format success counts: ``random 0 of 2, zero 0 of 1``."""
    return ", ".join(f"{name} {yes} of {of}" for name, (yes, of) in succeeded.items())
