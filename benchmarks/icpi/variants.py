"""What is compared: methods, profiles and ablations by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from baselines.icpi.assembly import WITH_ENGINE
from baselines.icpi.profile import PROFILES, Profile
from baselines.icpi.values import KINDS

if TYPE_CHECKING:
    from baselines.icpi.assembly import Method


@dataclass(frozen=True)
class Variant:
    """One curve of the figure, or one column of a table.

    Attributes:
        title: In legends and tables.
        method: The agent.
        profile: Its switches.
        engine: Asked in place of the benchmark's; None leaves it.
        bootstrap_terminal: The quirk of the released Tabular Q.
    """

    title: str
    method: Method
    profile: Profile = PROFILES["paper"]
    engine: str | None = None
    bootstrap_terminal: bool = False

    def engine_of(self, engine: str) -> str | None:
        """Who is asked when the benchmark is run with `engine`; None where nobody is."""
        return (self.engine or engine) if self.method in WITH_ENGINE else None


_PAPER = PROFILES["paper"]

CURVES: Mapping[str, Variant] = {
    "icpi": Variant("ICPI", "icpi"),
    "no-argmax": Variant("No ArgMax", "no-argmax"),
    "tabular-q": Variant("Tabular Q", "tabular-q"),
    "matching": Variant("Matching Model", "matching"),
    "random": Variant("random", "random"),
}
"""The curves of the paper's figure, and random actions."""

OTHERS: Mapping[str, Variant] = {
    "icpi-fast": Variant("ICPI, fast profile", "icpi", PROFILES["fast"]),
    "tabular-q-released": Variant(
        "Tabular Q, bootstrapping at the end", "tabular-q", bootstrap_terminal=True
    ),
    "random-policy": Variant("oracle, but random rollouts", "icpi", engine="oracle:random"),
    "lookup": Variant("lookup engine", "icpi", engine="lookup"),
}
"""The cheaper profile, and engines with a known defect."""

ABLATIONS: Mapping[str, Variant] = {
    "no-hint": Variant("no hints", "icpi", replace(_PAPER, hint=False)),
    "no-balance": Variant("no balance", "icpi", replace(_PAPER, balance=False)),
    "no-constraint": Variant("no constraints", "icpi", replace(_PAPER, constrain=False)),
    "context-16": Variant("c = 16", "icpi", replace(_PAPER, context=16)),
    **{
        f"random-{kind}": Variant(f"{kind} at random", "icpi", replace(_PAPER, randomize=frozenset({kind})))
        for kind in KINDS
    },
}
"""ICPI less one thing."""

VARIANTS: Mapping[str, Variant] = {**CURVES, **OTHERS, **ABLATIONS}
