"""What can be known of a policy's source without running it: the side of `Program` that is in the reader."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from promptpo.program.confined.classes import class_called, contract_of, find_method
from promptpo.program.confined.export_options import constant, option_defaults
from promptpo.program.confined.identity import digest, skeleton
from promptpo.program.confined.inlining import inlined
from promptpo.program.confined.renaming import rename
from promptpo.program.confined.tree import (
    Text,
    assigned,
    bound_here,
    docstring_of,
    literal,
    parse,
    replace_nodes,
)
from promptpo.program.confined.tunables import (
    actions_in,
    declared_in,
    number_in,
    params_in,
    table_in,
)
from promptpo.program.tunables import Range
from promptpo_sandbox.text import clean


@dataclass(frozen=True)
class Module:
    """A policy module. Text that is not Python is one too: it defines nothing and is never rewritten.

    Everything is read off the syntax tree, which is made once; nothing of the module is ever run.

    What its properties and methods give is plain data, or a module.

    Attributes:
        source: The module's text.
    """

    source: str

    @classmethod
    def parse(cls, source: str) -> Module:
        """The program of a source; the same value for the same text as long as it is in use."""
        return _remembered(source)

    @cached_property
    def _tree(self) -> ast.Module | None:
        return parse(self.source)

    @property
    def is_python(self) -> bool:
        """Whether the text parses."""
        return self._tree is not None

    @cached_property
    def digest(self) -> str:
        """Equal for programs that differ in comments, layout and local names; see `identity.digest`."""
        return digest(self.source)

    @cached_property
    def skeleton(self) -> str:
        """Equal for programs that differ in numbers only; see `identity.skeleton`."""
        return skeleton(self.source)

    # What it declares for tuning

    @cached_property
    def params(self) -> dict[str, Range]:
        """The declared numbers, name to (value, low, high), in the order of the source; arrays number by number."""
        return params_in(self._tree)

    @cached_property
    def arrays(self) -> dict[str, tuple[int, ...]]:
        """The shape of each declared parameter that is an array; its numbers are in `params` as ``W[0,1]``."""
        return {n: one.shape for n, one in declared_in(self._tree).items() if one.shape}

    @property
    def params_are_triples(self) -> bool:
        """Whether every entry of ``PARAMS`` is one of `params`, and written as (value, low, high)."""
        node = assigned(self._tree, "PARAMS")
        entries = node.values if isinstance(node, ast.Dict) else []
        count = len(declared_in(self._tree))
        return len(entries) == count and all(isinstance(e, ast.Tuple | ast.List) for e in entries)

    def given(self, params: str = "PARAMS") -> str:
        """An expression of what its constructor is to be given, for code behind it that has numpy as ``np``.

        Args:
            params: What the module calls ``PARAMS`` now.
        """
        if self.params and self.params_are_triples:
            value = "np.array(value[0], dtype=float) if np.ndim(value[0]) else value[0]"
            return f"{{name: {value if self.arrays else 'value[0]'} for name, value in {params}.items()}}"
        entries = (
            f"{one.name!r}: np.array({list(one.values)!r}).reshape({one.shape!r})"
            if one.shape
            else f"{one.name!r}: {one.values[0]!r}"
            for one in declared_in(self._tree).values()
        )
        return f"{{{', '.join(entries)}}}"

    @cached_property
    def table(self) -> list[tuple[Hashable, Any]] | None:
        """Keys and values of the ``TABLE`` literal; None where there is none."""
        table = table_in(self._tree)
        return None if table is None else list(table.items())

    @cached_property
    def actions(self) -> tuple[Any, ...]:
        """What the table may choose from: the ``ACTIONS`` literal, or else the values the table has."""
        return actions_in(self._tree)

    def number(self, name: str, default: float) -> float:
        """A top-level number, or a default where it is missing or no finite number."""
        return number_in(self._tree, name, default)

    # What it is made of

    @cached_property
    def names(self) -> list[str]:
        """The names that the module binds at its top level, sorted."""
        declared = [n.names for n in ast.walk(self._tree) if isinstance(n, ast.Global)] if self._tree else []
        bound = bound_here(self._tree.body if self._tree else ())
        return sorted({*bound, *(name for names in declared for name in names)})

    @cached_property
    def reads(self) -> list[str]:
        """The names that are read anywhere in it, sorted."""
        nodes = ast.walk(self._tree) if self._tree else ()
        return sorted({n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)})

    @cached_property
    def imports(self) -> tuple[str, ...]:
        """The top-level packages that it imports, sorted."""
        found: set[str] = set()
        for node in ast.walk(self._tree) if self._tree else ():
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
        return tuple(sorted(found))

    @cached_property
    def contract(self) -> tuple[bool | None, bool | None]:
        """How the class ``Policy`` is made for an episode; see `Contract`."""
        return contract_of(self._tree)

    @cached_property
    def reward(self) -> tuple[bool, bool]:
        """Whether the class ``Reward`` may have a ``step``, and a ``success``."""
        owner = class_called(self._tree, "Reward")
        if owner is None:
            return False, False
        return (
            find_method(self._tree, owner, "step") is not False,
            find_method(self._tree, owner, "success") is not False,
        )

    def lacks(self, class_name: str, *methods: str) -> tuple[str, ...]:
        """Which of some methods a top-level class has not, as far as that is known without running the module."""
        owner = class_called(self._tree, class_name)
        if owner is None:
            return ()
        return tuple(name for name in methods if find_method(self._tree, owner, name) is False)

    def arguments(self, class_name: str, method: str) -> tuple[str, ...]:
        """Names of the positional arguments of a method of a top-level class; empty where it is not there."""
        owner = class_called(self._tree, class_name)
        body = owner.body if owner is not None else []
        found = next((n for n in body if isinstance(n, ast.FunctionDef) and n.name == method), None)
        return tuple(argument.arg for argument in found.args.args) if found is not None else ()

    @property
    def docstring(self) -> str:
        """The module's docstring, as its value, clean; empty without one."""
        statement = docstring_of(self._tree)
        value = statement.value if statement else None
        if not isinstance(value, ast.Constant) or not isinstance(value.value, str):
            return ""
        return clean(value.value.strip())

    def class_docstrings(self, name: str = "") -> list[str]:
        """The docstrings of its top-level classes that have one, or of the class of that name."""
        body = self._tree.body if self._tree else []
        classes = [n for n in body if isinstance(n, ast.ClassDef) and name in ("", n.name)]
        return [text for node in classes if (text := ast.get_docstring(node))]

    def text(self, name: str) -> str:
        """A text of that name, at the top level or in a class; empty where there is none.

        It may be written in parts that are added, or as a list of lines or a dict of labels and their meanings.
        """
        body = self._tree.body if self._tree else []
        for part in (body, *(node.body for node in body if isinstance(node, ast.ClassDef))):
            for node in part:
                if isinstance(node, ast.Assign):
                    targets: list[ast.expr] = node.targets
                elif isinstance(node, ast.AnnAssign):
                    targets = [node.target]
                else:
                    continue
                if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                    text = _text_of(node.value)
                    if text:
                        return text
        return ""

    @property
    def without_docstring(self) -> str:
        """The source without the module's docstring; what shares a line with it stays."""
        statement = docstring_of(self._tree)
        if statement is None:
            return self.source
        text = Text(self.source)
        start, end = text.start(statement), text.end(statement)
        after = text.data[end:]
        spaces = len(after) - len(after.lstrip(b" \t\f"))
        if after[spaces : spaces + 1] == b";":
            rest = after[spaces + 1 :]
            end += spaces + 1 + len(rest) - len(rest.lstrip(b" \t\f"))
        return text.replaced([(start, end, "")])

    # Rewriting

    def with_values(self, values: Mapping[str, float]) -> Module:
        """The same module with other parameter values; bounds, comments and layout stay.

        Args:
            values: Name to new value; names that are not declared and values that are no finite numbers
                are ignored. Six significant digits are kept.
        """
        finite = {name: value for name, value in values.items() if abs(value) < float("inf")}
        edits = []
        for one in declared_in(self._tree).values():
            names = one.names
            if not finite.keys().isdisjoint(names):
                new = [finite.get(name, old) for name, old in zip(names, one.values, strict=True)]
                edits.append((one.node, one.text(new)))
        return Module.parse(replace_nodes(self.source, edits)) if edits else self

    def with_literal(self, name: str, text: str) -> Module:
        """The same module with another expression assigned to a top-level name, if it has one."""
        node = assigned(self._tree, name)
        return self if node is None else Module.parse(replace_nodes(self.source, [(node, text)]))

    def renamed(self, name: str) -> Module:
        """The same module with a top-level name changed to one that is not in use."""
        taken, new = set(re.findall(r"\w+", self.source)), f"{name}_"
        while new in taken:
            new += "_"
        return self.named(name, new)

    def named(self, old: str, new: str) -> Module:
        """The same module with a top-level name changed to another, which occurs nowhere in it."""
        return Module.parse(rename(self.source, old, new))

    @cached_property
    def inlined(self) -> Module:
        """The same policy with the pieces of ``looking`` that it uses in the place of their imports."""
        return Module.parse(inlined(self.source))

    # Of an exported file

    @cached_property
    def option_defaults(self) -> dict[str, Any]:
        """Name to default of every option that it adds to an ``argparse`` parser by literals."""
        return option_defaults(self._tree)

    def constant(self, name: str) -> Any:
        """The literal that it binds to a name at its top level; None where there is none."""
        return constant(self._tree, name)


@lru_cache(maxsize=64)
def _remembered(source: str) -> Module:
    return Module(source)


def _text_of(node: ast.expr | None) -> str:
    """What an expression of literals says as text; empty where it is none."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        with contextlib.suppress(ValueError):
            last, first = literal(node.right), _text_of(node.left)
            return f"{first} {last.strip()}" if first and isinstance(last, str) else ""
        return ""
    with contextlib.suppress(ValueError):
        value = literal(node)
        if isinstance(value, dict):
            return "; ".join(f"{label} = {meaning}" for label, meaning in value.items())
        if isinstance(value, (list, tuple)):
            return "; ".join(map(str, value))
        if isinstance(value, str):
            return value.strip()
    return ""
