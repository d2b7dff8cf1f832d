"""Which of two episodes comes closer to a goal, by the one who judges and by a reward program."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptpo.telling.feedback import number
from promptpo.telling.preferences import Preference

if TYPE_CHECKING:
    from sandbox import Episode

MISLEADS = 2
"""Pairs in which a part of a reward must speak against the preference before it is named."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """Preferences among episodes, and what the episodes earn.

    Attributes:
        pairs: (first, second, which is preferred) of those that were answered.
        returns: By episode.
        parts: Sums of the parts of the reward, by episode.
    """

    pairs: tuple[tuple[str, str, Preference], ...]
    returns: Mapping[str, float]
    parts: Mapping[str, Mapping[str, float]]

    @classmethod
    def of(
        cls,
        pairs: Iterable[tuple[str, str]],
        said: Sequence[Preference | None],
        episodes: Mapping[str, Episode],
    ) -> Preferences:
        """Of episodes by name; pairs that nothing was said about are left out."""
        answered = [(a, b, word) for (a, b), word in zip(pairs, said, strict=True) if word is not None]
        return cls(tuple(answered), _returns(episodes), _parts(episodes))

    def by(self, episodes: Mapping[str, Episode]) -> Preferences:
        """The same preferences beside what another program says of these episodes."""
        known = tuple(pair for pair in self.pairs if pair[0] in episodes and pair[1] in episodes)
        return Preferences(known, _returns(episodes), _parts(episodes))

    @property
    def clear(self) -> list[tuple[str, str]]:
        """(the episode that is preferred, the other one) of each pair of which one is."""
        return [(a, b) if word == "first" else (b, a) for a, b, word in self.pairs if word != "equal"]

    @property
    def against(self) -> list[tuple[str, str]]:
        """Those of `clear` that the reward does not order so."""
        return [(a, b) for a, b in self.clear if not self.returns[a] > self.returns[b] or self._same(a, b)]

    def _same(self, a: str, b: str) -> bool:
        return math.isclose(self.returns[a], self.returns[b], rel_tol=1e-6)

    def disagreements(self) -> list[str]:
        """Each pair that the reward orders otherwise, in words."""
        return [
            f"Episode {a} comes closer to the goal than episode {b}, but earns {number(self.returns[a])} "
            f"and the other {number(self.returns[b])}{self._by_parts(a, b)}."
            for a, b in self.against
        ]

    def _by_parts(self, a: str, b: str) -> str:
        names = dict.fromkeys([*self.parts.get(a, {}), *self.parts.get(b, {})])
        told = [
            f"{name} {number(self.parts[a].get(name, 0.0))} and {number(self.parts[b].get(name, 0.0))}"
            for name in names
        ]
        return f" (by parts: {', '.join(told)})" if told else ""

    def misleading(self) -> dict[str, tuple[int, int]]:
        """Parts of the reward that are larger where the goal is farther: (so many pairs, of how many) by name."""
        found = {}
        for name in dict.fromkeys(name for parts in self.parts.values() for name in parts):
            differences = [
                self.parts[a].get(name, 0.0) - self.parts[b].get(name, 0.0)
                for a, b in self.clear
                if a in self.parts and b in self.parts
            ]
            wrong, right = sum(d < 0 for d in differences), sum(d > 0 for d in differences)
            if wrong >= MISLEADS and wrong > right:
                found[name] = (wrong, len(differences))
        return found

    def suspicious(self) -> list[str]:
        """The same in words."""
        return [
            f"The part {name} is larger in the episode that is farther from the goal, in {wrong} of {pairs} pairs."
            for name, (wrong, pairs) in self.misleading().items()
        ]


def _returns(episodes: Mapping[str, Episode]) -> dict[str, float]:
    return {name: episode.return_ for name, episode in episodes.items()}


def _parts(episodes: Mapping[str, Episode]) -> dict[str, dict[str, float]]:
    return {name: dict(episode.parts) for name, episode in episodes.items()}
