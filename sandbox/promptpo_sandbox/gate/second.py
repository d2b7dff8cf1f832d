"""A second opinion on a program: the walk of RestrictedPython, which refuses on grounds of its own.

What it refuses for the sake of its own rewriting is let pass: one leading underscore, augmented assignments,
annotations, nonlocal.
"""

from __future__ import annotations

import ast
from typing import Any

from RestrictedPython.transformer import RestrictingNodeTransformer

from promptpo_sandbox.gate.names import SPECIAL_METHODS

_KNOWN = SPECIAL_METHODS | {"__name__", "__future__"}
"""Names with two underscores whose place our own review has looked at."""


def refused(tree: ast.Module) -> list[str]:
    """What it refuses, in its own words, each with its line; the tree is used up."""
    errors: list[str] = []
    _Walk(errors).visit(tree)
    return errors


class _Walk(RestrictingNodeTransformer):
    def visit_AugAssign(self, node: Any) -> Any:  # noqa: N802 - the walk's own name
        return self.node_contents_visit(node)

    visit_AnnAssign = visit_Nonlocal = visit_AugAssign  # noqa: N815 - as above

    def check_name(self, node: Any, name: str | None, allow_magic_methods: bool = False) -> None:
        super().check_name(node, name and _plain(name), allow_magic_methods)

    def visit_Attribute(self, node: Any) -> Any:  # noqa: N802 - as above
        node.attr = _plain(node.attr)
        return super().visit_Attribute(node)


def _plain(name: str) -> str:
    """A name without underscores that are of no concern."""
    return name.strip("_") if name in _KNOWN or not name.startswith("__") else name
