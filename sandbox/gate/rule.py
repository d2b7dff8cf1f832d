"""What a rule about the use of a name is."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from sandbox.gate import names

if TYPE_CHECKING:
    from sandbox.gate.uses import UseReview

NAMESPACES = frozenset(names.MODULES)
Problem = tuple[int, str]
"""Line and sentence."""

Node = ast.Name | ast.Attribute
Rule = Callable[["UseReview", Node, str], str | None]
"""Of a review, a name's node and what it spells: one sentence where this use is refused."""
