"""Results of tuning a program's numbers, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from promptpo.prompts.limits import NAMED
from promptpo.prompts.shortening import count_of

if TYPE_CHECKING:
    from promptpo.core.candidate import Sensitivity


def sensitivity_in_words(sensitivity: Mapping[str, Sensitivity]) -> str:
    """Describe which numbers moved the return, which did not, and which are at a bound; empty if nothing is known."""
    if not sensitivity:
        return ""
    moved = sorted((n for n in sensitivity if sensitivity[n].share > 0), key=lambda n: -sensitivity[n].share)
    named = ", ".join(f"{name} ({sensitivity[name].share:.0%})" for name in moved[:NAMED])
    if len(moved) > NAMED:
        named += f" and {len(moved) - NAMED} more"
    parts = [f"the return depended on {named}" if moved else "no single number clearly affected the return"]
    still = len(sensitivity) - len(moved)
    if moved and still:
        parts.append(f"{count_of(still, 'other')} made no clear difference")
    ends = [f"{name} ({effect.at_bound})" for name, effect in sensitivity.items() if effect.at_bound]
    if ends:
        more = f" and {len(ends) - NAMED} more" if len(ends) > NAMED else ""
        parts.append(f"at a bound: {', '.join(ends[:NAMED])}{more}")
    return "; ".join(parts)
