"""Functions of the reader, which parse all text from models, guests and strangers.

All modules of this folder run only in the reader, a confined process.
"""

from __future__ import annotations

from tomllib import loads as toml
from typing import Any

from promptpo.program.confined import classes, facts, identity, inlining, renaming, tree, tunables
from promptpo.program.confined.answers import cut_out_program, every
from promptpo_sandbox.guest.plain import PlainDataError, encode

__all__ = ["cut_out_program", "every", "of_module", "toml"]

_FACTS = {
    fact.__name__: fact
    for fact in (
        facts.is_python, facts.names, facts.reads, facts.docstring, facts.class_docstrings,
        facts.text, facts.without_docstring, facts.postpone_annotations, facts.body, facts.option_defaults, identity.digest,
        classes.contract, classes.reward, classes.lacks, classes.arguments, tree.constant,
        tunables.params, tunables.arrays, tunables.constructor_argument, tunables.table, tunables.actions,
        tunables.with_values, tunables.with_literal,
        renaming.rename_to_unused, renaming.rename, inlining.inline_looking,
    )
}  # fmt: skip


def of_module(source: str, name: str, *arguments: Any) -> Any:
    """Return a fact about a module, or its rewritten text.

    None if the text is not Python, or if the fact is no plain data, such as a table of sets.
    """
    module = tree.Module.parse(source)
    found = None if module is None else _FACTS[name](module, *arguments)
    try:
        encode(found)
    except PlainDataError:
        return None
    return found
