"""`Program`: the source of a policy as a value, with facts known without running it."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from promptpo.program.reader import UnreadableError, read
from promptpo.program.tunables import Range, format_table, text_digest
from promptpo_sandbox.text import clean

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Contract:
    """How a policy is constructed for an episode.

    Attributes:
        takes_params: Whether its constructor takes the parameter values; None if only running the module can tell.
        resets: Whether it has a ``reset`` to call; None likewise.
    """

    takes_params: bool | None
    resets: bool | None


class _Fact(Generic[T]):
    """A fact about a program's module, requested once.

    Args:
        kind: Converts the reader's plain data to the fact.
        otherwise: Data to convert if the module cannot be read.
    """

    def __init__(self, kind: Callable[[Any], T], otherwise: Any) -> None:
        self._kind, self._otherwise = kind, otherwise

    def __set_name__(self, owner: type[Program], name: str) -> None:
        self._name = name

    def __get__(self, program: Program, owner: type[Program]) -> T:
        found = self._kind(program._read(self._name, otherwise=self._otherwise))  # noqa: SLF001 - a part of it
        program.__dict__[self._name] = found
        return found


@dataclass(frozen=True)
class Program:
    """A policy module. Text that is not Python counts too: it defines nothing and is never rewritten.

    All facts come from the reader, a confined process: nothing is parsed here, and nothing is ever run. A module built to be
    hard to read counts as not Python.

    Attributes:
        source: The module's text.
    """

    source: str

    @staticmethod
    @lru_cache(maxsize=64)
    def from_source(source: str) -> Program:
        """Return the program of a source; cached, so that equal text gives the same object."""
        return Program(source)

    def _read(self, name: str, *arguments: Any, otherwise: Any) -> Any:
        """Return a fact about the module; `otherwise` if the module cannot be read, and then for all further facts."""
        if "_unreadable" not in self.__dict__:
            try:
                found = read("of_module", self.source, name, *arguments)
            except UnreadableError:
                self.__dict__["_unreadable"] = True
            else:
                return otherwise if found is None else found
        return otherwise

    def _rewrite(self, how: str, *arguments: Any) -> Program:
        source = self._read(how, *arguments, otherwise=self.source)
        return self if source == self.source else Program.from_source(source)

    is_python = _Fact(bool, None)
    """Whether the text parses."""

    @cached_property
    def digest(self) -> str:
        """Digest that ignores comments, layout and local names."""
        return str(self._read("digest", otherwise=text_digest(self.source)))

    # What it declares for tuning

    params = _Fact[Mapping[str, Range]](MappingProxyType, {})
    """The declared numbers, name to (value, low, high), in source order; arrays element by element."""

    arrays = _Fact[Mapping[str, tuple[int, ...]]](MappingProxyType, {})
    """The shape of each declared array; its elements are in `params` as ``W[0,1]``."""

    @property
    def values(self) -> dict[str, float] | None:
        """Constructor arguments as `promptpo_sandbox.Trial` takes them; None without parameters."""
        return {name: value for name, (value, _, _) in self.params.items()} or None

    def constructor_argument(self) -> str:
        """Return an expression for the constructor's argument, for use after the module, with numpy as ``np``."""
        return str(self._read("constructor_argument", otherwise="{}"))

    @cached_property
    def table(self) -> Mapping[Hashable, Any] | None:
        """The ``TABLE`` literal, from observation key to action; None without one."""
        pairs = self._read("table", otherwise=None)
        return None if pairs is None else MappingProxyType(dict(pairs))

    actions = _Fact[tuple[Any, ...]](tuple, ())
    """The actions that the table may contain: the ``ACTIONS`` literal, or else the table's values."""

    # Structure

    names = _Fact[frozenset[str]](frozenset, ())
    """Names bound at the module's top level."""

    reads = _Fact[frozenset[str]](frozenset, ())
    """Names read anywhere in the module."""

    contract = _Fact(lambda found: Contract(*found), (None, None))
    """How the class ``Policy`` is constructed for an episode."""

    reward = _Fact[tuple[bool, ...]](tuple, (False, False))
    """Whether the class ``Reward`` may have a ``step`` and a ``success``."""

    def lacks(self, class_name: str, *methods: str) -> tuple[str, ...]:
        """Return the methods that a top-level class certainly lacks, as far as known without running the module."""
        return tuple(self._read("lacks", class_name, *methods, otherwise=()))

    def arguments(self, class_name: str, method: str) -> tuple[str, ...]:
        """Return the names of a method's positional arguments in a top-level class; empty if it is missing."""
        return tuple(self._read("arguments", class_name, method, otherwise=()))

    docstring = _Fact(clean, "")
    """The module's docstring, cleaned; empty without one."""

    def class_docstrings(self, name: str = "") -> list[str]:
        """Return the docstrings of top-level classes, or of the class with this name."""
        return list(self._read("class_docstrings", name, otherwise=()))

    def text(self, name: str) -> str:
        """Return the string assigned to a name, at the top level or in a class; empty without one."""
        return str(self._read("text", name, otherwise=""))

    @cached_property
    def without_docstring(self) -> str:
        """The source without the module's docstring; other code on its line stays."""
        return str(self._read("without_docstring", otherwise=self.source))

    @cached_property
    def postponed(self) -> Program:
        """The module as guests compile it: with annotations that are never evaluated."""
        return self._rewrite("postpone_annotations")

    @cached_property
    def body(self) -> str:
        """The source of `postponed` without its docstring, for a file that has its own."""
        return str(self._read("body", otherwise=self.source))

    option_defaults = _Fact[Mapping[str, Any]](MappingProxyType, {})
    """Defaults of options that an exported file adds to an ``argparse`` parser by literals, by name."""

    def constant(self, name: str) -> Any:
        """Return the literal bound to a name at the top level; None without one."""
        return self._read("constant", name, otherwise=None)

    # Rewriting

    def with_values(self, values: Mapping[str, float]) -> Program:
        """Return the module with other parameter values; bounds, comments and layout stay.

        Args:
            values: Name to new value, written with six significant digits; undeclared names and non-finite values are
                ignored.
        """
        return self._rewrite("with_values", dict(values)) if values else self

    def with_table(self, table: Mapping[Any, Any]) -> Program:
        """Return the module with another ``TABLE``, several entries per line."""
        return self.with_literal("TABLE", format_table(table))

    def with_literal(self, name: str, text: str) -> Program:
        """Return the module with another expression assigned to a top-level name, if it has that name."""
        return self._rewrite("with_literal", name, text)

    def rename_to_unused(self, name: str) -> Program:
        """Return the module with a top-level name changed to an unused one."""
        return self._rewrite("rename_to_unused", name)

    def rename(self, old: str, new: str) -> Program:
        """Return the module with a top-level name changed to another, which must not occur in it."""
        return self._rewrite("rename", old, new)

    def beside(self, added: str) -> Program:
        """Return the program with top-level names changed where they clash with names or used builtins of added code."""
        program, other = self, Program.from_source(added)
        for name in sorted(self.names & (other.names | (other.reads & set(dir(builtins))))):
            program = program.rename_to_unused(name)
        return program

    @cached_property
    def inlined(self) -> Program:
        """The policy with the functions of ``looking`` that it uses inlined in place of their imports."""
        return self._rewrite("inline_looking")
