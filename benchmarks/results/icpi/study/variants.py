"""The methods, profiles and ablations under comparison, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from promptpo_baselines.icpi.assembly import WITH_ENGINE
from promptpo_baselines.icpi.profile import PROFILES, Profile
from promptpo_baselines.icpi.profile import KINDS

if TYPE_CHECKING:
    from promptpo_baselines.icpi.assembly import Method


@dataclass(frozen=True)
class StudyArm:
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

CURVES: Mapping[str, StudyArm] = {
    "icpi": StudyArm("ICPI", "icpi"),
    "no-argmax": StudyArm("No ArgMax", "no-argmax"),
    "tabular-q": StudyArm("Tabular Q", "tabular-q"),
    "matching": StudyArm("Matching Model", "matching"),
    "random": StudyArm("random", "random"),
}
"""The curves of the paper's figure, and random actions."""

OTHERS: Mapping[str, StudyArm] = {
    "icpi-fast": StudyArm("ICPI, fast profile", "icpi", PROFILES["fast"]),
    "tabular-q-released": StudyArm(
        "Tabular Q, bootstrapping at the end", "tabular-q", bootstrap_terminal=True
    ),
    "random-policy": StudyArm("oracle, but random rollouts", "icpi", engine="oracle:random"),
    "lookup": StudyArm("lookup engine", "icpi", engine="lookup"),
}
"""The cheaper profile, and engines with a known defect."""

ABLATIONS: Mapping[str, StudyArm] = {
    "no-hint": StudyArm("no hints", "icpi", replace(_PAPER, hint=False)),
    "no-balance": StudyArm("no balance", "icpi", replace(_PAPER, balance=False)),
    "no-constraint": StudyArm("no constraints", "icpi", replace(_PAPER, constrain=False)),
    "context-16": StudyArm("c = 16", "icpi", replace(_PAPER, context=16)),
    **{
        f"random-{kind}": StudyArm(f"{kind} at random", "icpi", replace(_PAPER, randomize=frozenset({kind})))
        for kind in KINDS
    },
}
"""ICPI less one thing."""

VARIANTS: Mapping[str, StudyArm] = {**CURVES, **OTHERS, **ABLATIONS}
