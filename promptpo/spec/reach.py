"""The part of an environment's source that a step or a reset reaches, through all of its author's files."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from promptpo.envs.foreign import layers_of
from promptpo.spec.code_files import CodeFiles, Definition
from promptpo.spec.code_names import bound_names, find_unused_calls, without_annotations

if TYPE_CHECKING:
    from promptpo.spec.code_files import CodeFile

BEGINNINGS = ("step", "reset", "seed", "observation", "reward", "action")
"""Methods that are called from outside; the last three of wrappers."""

IMPLIED = re.compile(
    r"__(?!init|new|repr|str|del|hash|doc|slots|version|author|all|getstate|setstate|deepcopy|copy|reduce|exit|enter)\w+__$"
)
"""Methods that operators call, and no name."""

BUILDERS = ("__init__", "__post_init__", "__new__")
"""Methods that make an object."""

MAX_HOLDING_LEVELS, WIDEST = 4, 200
"""Levels of objects that hold objects, and members of one that are looked at."""


@dataclass(slots=True)
class Reached:
    """What a step and a reset come to.

    Attributes:
        files: The files.
        shown: Definitions, nearest first.
        passive: Names that are called where nothing uses what they return but drawing or ``info``.
        missing: Names of the environment's own modules that have no readable source.
        unseen: Classes that are named, and of which no object was held; one of another class of their kind was.
        read: Attributes that the code reads.
    """

    files: CodeFiles
    shown: list[Definition] = field(default_factory=list)
    passive: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    read: set[str] = field(default_factory=set)


def reach(env: Any) -> Reached:
    """Follow every name from ``step`` and ``reset`` of an environment and of its author's wrappers.

    An attribute is one of every class that has it and of which an object may be there: what is shown is rather too much
    than too little.

    Args:
        env: The environment with its wrappers, after a reset.
    """
    return _Reaching(layers_of(env)).follow_all()


class _Reaching:
    """A search over definitions, breadth first; constructors come last."""

    def __init__(self, layers: Sequence[Any]) -> None:
        self.layers = layers
        self.found = Reached(CodeFiles([cls for layer in layers for cls in type(layer).__mro__]))
        self._ahead, self._later = deque[Definition](), deque[Definition]()
        self._seen = set[int]()
        self._used, self._named = set[type[Any]](), set[str]()
        self._values = {k: v for layer in reversed(layers) for k, v in getattr(layer, "__dict__", {}).items()}
        self._holders = defaultdict[str, set[type[Any]]](set)
        self._kinds = dict.fromkeys([*map(type, layers), *self._find_held_classes(layers)])
        self._live = [[base for base in kind.__mro__ if self._is_own(base)] for kind in self._kinds]

    def follow_all(self) -> Reached:
        """All of it."""
        for layer in reversed(self.layers):
            for name in BEGINNINGS[: None if hasattr(layer, "env") else 3]:
                self._member(type(layer), name)
            self._use(type(layer))
        while waiting := self._ahead or self._later:
            definition = waiting.popleft()
            self.found.shown.append(definition)
            self._follow(definition)
        return self.found

    def _find_held_classes(self, owners: Sequence[Any]) -> Iterator[type[Any]]:
        """Classes of the author's whose objects are held."""
        known, level = set[int](), list(owners)
        for _ in range(MAX_HOLDING_LEVELS):
            inner = [value for owner in level for value in _members(owner) if id(value) not in known]
            own = [value for value in inner if self._is_own(type(value))]
            level = [*own, *(value for value in inner if isinstance(value, list | tuple | dict | set))]
            known |= {id(value) for value in level}
            for value in own:
                for name in getattr(value, "__dict__", ()):
                    self._holders[name].add(type(value))
                yield type(value)

    def _is_own(self, cls: type[Any]) -> bool:
        return self.found.files.owns_type(cls)

    def _add(self, definitions: Sequence[Definition], *, later: bool = False) -> None:
        for definition in definitions:
            if id(definition) not in self._seen:
                self._seen.add(id(definition))
                (self._later if later else self._ahead).append(definition)

    def _meet(self, cls: type[Any]) -> bool:
        """Whether objects of a class may be there, as from now on: of a family of classes those that were held count."""
        if cls in self._kinds:
            return True
        bases = {base for base in cls.__mro__ if self._is_own(base)}
        alike = [live for live in self._live if bases & {*live}]
        if alike:
            if not any(cls in live for live in alike):
                _note(self.found.unseen, cls.__name__)
            return False
        self._kinds[cls] = None
        for name in list(self._named):  # what was asked of objects of unknown class before
            self._member(cls, name)
        return True

    def _use(self, cls: type[Any]) -> None:
        """A class whose objects the code works with: what operators call, its constructor, and its bases."""
        if cls in self._used or not self._meet(cls):
            return
        self._used.add(cls)
        for base in filter(self._is_own, cls.__mro__):
            file, name = self.found.files.file(base.__module__), base.__qualname__.partition(".")[0]
            if file is None:
                _note(self.found.missing, name)
                continue
            self._add(file.definitions_of("", name))
            for home, member in list(file.definitions):
                if home == name and (IMPLIED.match(member) or member in BUILDERS):
                    self._add(file.definitions_of(home, member), later=member in BUILDERS)

    def _member(self, cls: type[Any], name: str, after: str = "") -> bool:
        """Reach a member of a class, or the next one behind a class of its bases; whether there is one."""
        names = [base.__qualname__ for base in cls.__mro__]
        for base in cls.__mro__[names.index(after) + 1 if after else 0 :]:
            file = self.found.files.file(getattr(base, "__module__", ""))
            found = file.definitions_of(base.__qualname__.partition(".")[0], name) if file is not None else ()
            if found:
                self._use(cls)
                self._add(found)
                return True
        return False

    def _attribute(self, name: str) -> None:
        """An attribute of an object of unknown class: of every class that has it."""
        if name in self._named:
            return
        self._named.add(name)
        for cls in list(self._kinds):
            self._member(cls, name)
        for cls in self._holders.get(name, ()):
            self._use(cls)
        self._value(self._values.get(name))

    def _value(self, value: Any) -> None:
        """A function, a class or a container of them that is held or is the value of a constant."""
        for item in (value, *(_members(value) if isinstance(value, list | tuple | dict | set) else ())):
            plain = item.func if isinstance(item, partial) else item
            plain = plain.__func__ if isinstance(plain, MethodType) else plain
            if isinstance(plain, FunctionType):
                self._function(inspect.unwrap(plain))
            elif isinstance(plain, type) and self._is_own(plain):
                self._use(plain)
            elif self._is_own(type(plain)) and self._meet(type(plain)) and "__call__" in vars(type(plain)):
                self._use(type(plain))

    def _function(self, function: FunctionType) -> None:
        file = self.found.files.file(function.__module__ or "")
        outer, _, inner = function.__qualname__.partition(".")
        if file is not None:
            self._add(file.definitions_of(outer, inner) or file.definitions_of("", outer))

    def _name(self, file: CodeFile, name: str, *, constructing: bool) -> None:
        """A name of a module: a function, a constant or a class."""
        module, own = self.found.files.find(file.module.__name__, name)
        home = self.found.files.file(module) if own else None
        if home is None:
            base = file.imports.get(name, ("", ""))[0]
            if base and self.found.files.owns(base) and self.found.files.file(base) is None:
                _note(self.found.missing, name)
            return
        value = vars(home.module).get(own)
        if isinstance(value, type) and own in home.classes:
            if self._meet(value) and (not constructing or _is_data(value)):
                self._use(value)
            return
        self._add(home.definitions_of("", own))
        self._value(value)

    def _follow(self, definition: Definition) -> None:
        """Reach what a definition names."""
        node, file = definition.node, definition.file
        constructing = definition.name in BUILDERS or isinstance(node, ast.ClassDef)
        if isinstance(node, ast.ClassDef):  # methods are reached by their names
            trees: list[ast.AST] = [*node.bases, *node.decorator_list]
            self._add([*file.members(node.name)])
            skipped, local = set[int](), set[str]()
        else:
            trees, skipped, local = [node], find_unused_calls(node), bound_names(node)
        if definition.owner and not isinstance(
            node, ast.FunctionDef
        ):  # a registry that functions put themselves into
            self._value(getattr(vars(file.module).get(definition.owner), definition.name, None))
        for child in (child for tree in trees for child in without_annotations(tree)):
            if id(child) in skipped:
                _note(self.found.passive, getattr(child, "attr", getattr(child, "id", "")))
                continue
            match child:
                case ast.Name(name, ast.Load()) if name not in local:
                    self._name(file, name, constructing=constructing)
                case ast.Attribute(ast.Call(func=ast.Name("super")), name):
                    homes = [kind for kind in self._kinds if _is_base(definition.owner, kind)]
                    for kind in homes:
                        self._member(kind, name, after=definition.owner)
                case ast.Attribute(value, name):
                    self.found.read |= {name} if isinstance(child.ctx, ast.Load) else set()
                    self._chain(file, value, name, constructing=constructing)
                case ast.Call(ast.Name("getattr"), [_, member, *_]):
                    self._follow_lookup(file, member)

    def _chain(self, file: CodeFile, value: ast.expr, name: str, *, constructing: bool) -> None:
        """An attribute: of a module, or of an object."""
        module = self._module_of(file, value)
        inside = self.found.files.file(module) if module else None
        if inside is not None:
            self._name(inside, name, constructing=constructing)
        elif not module:
            self._attribute(name)
        elif self.found.files.owns(module):
            _note(self.found.missing, name)

    def _module_of(self, file: CodeFile, node: ast.expr) -> str:
        """The module that an expression stands for; empty where it is none."""
        if isinstance(node, ast.Attribute):
            inside = f"{self._module_of(file, node.value)}.{node.attr}"
            return inside if inside in sys.modules else ""
        if not isinstance(node, ast.Name):
            return ""
        base, inner = file.imports.get(node.id, ("", ""))
        module, own = self.found.files.find(file.module.__name__, node.id)
        return module if module and not own else base if base and not inner else ""

    def _follow_lookup(self, file: CodeFile, name: ast.expr) -> None:
        """Members that are looked up by a name: all that its beginning fits, or that are written as texts in the file."""
        while isinstance(name, ast.BinOp | ast.JoinedStr):
            name = name.left if isinstance(name, ast.BinOp) else name.values[0]
        begins = str(name.value) if isinstance(name, ast.Constant) else ""
        text = "\n".join(file.lines)
        for kind in list(self._kinds):
            for member in (name for name in dir(kind) if not name.startswith("__")):
                quoted = f'"{member}"' in text or f"'{member}'" in text
                if member.startswith(begins) if begins else quoted:
                    self._member(kind, member)


def _note(where: list[str], name: str) -> None:
    if name not in where:
        where.append(name)


def _is_base(name: str, cls: type[Any]) -> bool:
    return any(base.__qualname__ == name for base in cls.__mro__)


def _members(value: Any) -> list[Any]:
    """Return the members of an object or a container."""
    if isinstance(value, dict):
        return [*value.values()][:WIDEST]
    if isinstance(value, list | tuple | set):
        return [*value][:WIDEST]
    return [*getattr(value, "__dict__", {}).values()][:WIDEST] if not isinstance(value, type) else []


def _is_data(cls: type[Any]) -> bool:
    """Whether a class is one of values: an enumeration, a record, a named tuple."""
    return hasattr(cls, "__members__") or hasattr(cls, "__dataclass_fields__") or hasattr(cls, "_fields")
