"""`Program`: the source of a policy as a value, and what can be known of it without running it."""

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
    """How a policy is made for an episode.

    Attributes:
        takes_params: Whether its constructor is given the parameters' values; None where only running the
            module can tell.
        resets: Whether it has a ``reset`` that is called; None likewise.
    """

    takes_params: bool | None
    resets: bool | None


class _Fact(Generic[T]):
    """A fact about a program's module, which is asked for once.

    Args:
        kind: What makes it of the reader's plain data.
        otherwise: What it is made of where the module cannot be read.
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
    """A policy module. Text that is not Python is one too: it defines nothing and is never rewritten.

    What is known of it the reader finds out, a confined process: here nothing is parsed, and nothing is ever run.
    A module that is built to be hard to read counts as one that is not Python.

    Attributes:
        source: The module's text.
    """

    source: str

    @staticmethod
    @lru_cache(maxsize=64)
    def from_source(source: str) -> Program:
        """Return the program of a source; the same object for the same text while it is cached."""
        return Program(source)

    def _read(self, name: str, *arguments: Any, otherwise: Any) -> Any:
        """A fact about the module; the given one where it cannot be read, after which nothing else is asked for."""
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
        """Equal for programs that differ in comments, layout and local names."""
        return str(self._read("digest", otherwise=text_digest(self.source)))

    # What it declares for tuning

    params = _Fact[Mapping[str, Range]](MappingProxyType, {})
    """The declared numbers, name to (value, low, high), in the order of the source; arrays number by number."""

    arrays = _Fact[Mapping[str, tuple[int, ...]]](MappingProxyType, {})
    """The shape of each declared parameter that is an array; its numbers are in `params` as ``W[0,1]``."""

    @property
    def values(self) -> dict[str, float] | None:
        """Arguments of its constructor, as `promptpo_sandbox.Trial` takes them; None without parameters."""
        return {name: value for name, (value, _, _) in self.params.items()} or None

    def constructor_argument(self) -> str:
        """An expression of its constructor's argument, for code behind it that has numpy as ``np``."""
        return str(self._read("constructor_argument", otherwise="{}"))

    @cached_property
    def table(self) -> Mapping[Hashable, Any] | None:
        """The ``TABLE`` literal, from observation key to action; None where there is none."""
        pairs = self._read("table", otherwise=None)
        return None if pairs is None else MappingProxyType(dict(pairs))

    actions = _Fact[tuple[Any, ...]](tuple, ())
    """What the table may choose from: the ``ACTIONS`` literal, or else the values the table has."""

    # What it is made of

    names = _Fact[frozenset[str]](frozenset, ())
    """The names that the module binds at its top level."""

    reads = _Fact[frozenset[str]](frozenset, ())
    """The names that are read anywhere in it."""

    contract = _Fact(lambda found: Contract(*found), (None, None))
    """How the class ``Policy`` is made for an episode."""

    reward = _Fact[tuple[bool, ...]](tuple, (False, False))
    """Whether the class ``Reward`` may have a ``step``, and a ``success``."""

    def lacks(self, class_name: str, *methods: str) -> tuple[str, ...]:
        """Which of some methods a top-level class has not, as far as that is known without running the module."""
        return tuple(self._read("lacks", class_name, *methods, otherwise=()))

    def arguments(self, class_name: str, method: str) -> tuple[str, ...]:
        """Names of the positional arguments of a method of a top-level class; empty where it is not there."""
        return tuple(self._read("arguments", class_name, method, otherwise=()))

    docstring = _Fact(clean, "")
    """The module's docstring, as its value, clean; empty without one."""

    def class_docstrings(self, name: str = "") -> list[str]:
        """The docstrings of its top-level classes that have one, or of the class of that name."""
        return list(self._read("class_docstrings", name, otherwise=()))

    def text(self, name: str) -> str:
        """A text of that name, at the top level or in a class; empty where there is none."""
        return str(self._read("text", name, otherwise=""))

    @cached_property
    def without_docstring(self) -> str:
        """The source without the module's docstring; what shares a line with it stays."""
        return str(self._read("without_docstring", otherwise=self.source))

    @cached_property
    def postponed(self) -> Program:
        """The same module as it is compiled in a guest: it does not evaluate its annotations, wherever it runs."""
        return self._rewrite("postpone_annotations")

    @cached_property
    def body(self) -> str:
        """The same without its docstring, for a file that has one of its own."""
        return str(self._read("body", otherwise=self.source))

    option_defaults = _Fact[Mapping[str, Any]](MappingProxyType, {})
    """Name to default of every option that an exported file adds to an ``argparse`` parser by literals."""

    def constant(self, name: str) -> Any:
        """The literal that it binds to a name at its top level; None where there is none."""
        return self._read("constant", name, otherwise=None)

    # Rewriting

    def with_values(self, values: Mapping[str, float]) -> Program:
        """The same module with other parameter values; bounds, comments and layout stay.

        Args:
            values: Name to new value; names that are not declared and values that are no finite numbers
                are ignored. Six significant digits are kept.
        """
        return self._rewrite("with_values", dict(values)) if values else self

    def with_table(self, table: Mapping[Any, Any]) -> Program:
        """The same module with another ``TABLE``, several entries to a line."""
        return self.with_literal("TABLE", format_table(table))

    def with_literal(self, name: str, text: str) -> Program:
        """The same module with another expression assigned to a top-level name, if it has one."""
        return self._rewrite("with_literal", name, text)

    def rename_to_unused(self, name: str) -> Program:
        """The same module with a top-level name changed to one that is not in use."""
        return self._rewrite("rename_to_unused", name)

    def rename(self, old: str, new: str) -> Program:
        """The same module with a top-level name changed to another, which occurs nowhere in it."""
        return self._rewrite("rename", old, new)

    def beside(self, added: str) -> Program:
        """The same program with other names for those that an added part defines, and for the builtins that this uses."""
        program, other = self, Program.from_source(added)
        for name in sorted(self.names & (other.names | (other.reads & set(dir(builtins))))):
            program = program.rename_to_unused(name)
        return program

    @cached_property
    def inlined(self) -> Program:
        """The same policy with the pieces of ``looking`` that it uses in the place of their imports."""
        return self._rewrite("inline_looking")
