"""The part of an environment's source that a step or a reset reaches, through all of its author's files."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, NamedTuple

from promptpo.envs.foreign import layers_of
from promptpo.spec.code_files import CodeFiles
from promptpo.spec.code_names import bound_names, find_unused_calls, self_argument, without_annotations

if TYPE_CHECKING:
    from promptpo.spec.code_files import CodeFile, Definition

BEGINNINGS = ("step", "reset", "seed", "observation", "reward", "action")
"""Methods that are called from outside; the last three of wrappers."""

IMPLIED = re.compile(
    r"__(?!init|new|repr|str|del|hash|doc|slots|version|author|all|getstate|setstate|deepcopy|copy|reduce|exit|enter)\w+__$"
)
"""Methods that operators call, and no name."""

DEEPEST, WIDEST = 4, 200
"""Levels of objects that hold objects, and members of one that are looked at."""


class Context(NamedTuple):
    """Where code stands.

    Attributes:
        definition: The definition.
        owner: The class of its object; None outside of classes.
        distance: 0 for the environment's own classes and the functions that they call, 1 for all others.
    """

    definition: Definition
    owner: type[Any] | None
    distance: int


@dataclass(slots=True)
class Reached:
    """What a step and a reset come to.

    Attributes:
        files: The files.
        shown: Definitions, nearest first.
        passive: Names that are called where nothing uses what they return but drawing or ``info``.
        missing: Names of the environment's own modules that have no readable source.
        unseen: Classes that are named, and of which no object was held; one of another class of their kind was.
        distances: Definition, by its id, to its distance from the environment: 0, or 1 for classes that it holds.
        read: Attributes that the code reads.
    """

    files: CodeFiles
    shown: list[Definition] = field(default_factory=list)
    passive: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    distances: dict[int, int] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)


def reach(env: Any) -> Reached:
    """Follow every name from ``step`` and ``reset`` of an environment and of its author's wrappers.

    Args:
        env: The environment with its wrappers, after a reset.
    """
    return _Reaching(layers_of(env)).follow_all()


class _Reaching:
    """A search over definitions, breadth first; constructors come last."""

    def __init__(self, layers: Sequence[Any]) -> None:
        classes = [cls for layer in layers for cls in type(layer).__mro__]
        self.layers = layers
        self.found = Reached(CodeFiles(classes))
        self._ahead, self._later = deque[Context](), deque[Context]()
        self._seen = set[tuple[int, type[Any] | None]]()
        self._kinds = dict.fromkeys(type(layer) for layer in layers)
        self._used, self._named = set[type[Any]](), set[str]()
        self._values = dict[str, Any]()
        for layer in reversed(layers):
            self._values |= getattr(layer, "__dict__", {})
        self._kinds |= dict.fromkeys(self._held_classes(layers))
        self._live = [[base for base in kind.__mro__ if self._is_own(base)] for kind in self._kinds]
        self._own = {base for layer in layers for base in type(layer).__mro__}
        self._distance = 0

    def follow_all(self) -> Reached:
        """All of it."""
        for layer in reversed(self.layers):
            for name in BEGINNINGS[: None if hasattr(layer, "env") else 3]:
                self._member(type(layer), name)
            self._use(type(layer))
        while self._ahead or self._later:
            waiting = self._ahead or self._later
            context = waiting.popleft()
            self._distance = context.distance
            self.found.distances.setdefault(id(context.definition), context.distance)
            if context.definition not in self.found.shown:
                self.found.shown.append(context.definition)
            self._follow(context)
        return self.found

    def _held_classes(self, owners: Sequence[Any]) -> Iterator[type[Any]]:
        """Classes of the author's whose objects are held."""
        known, level = set[int](), list(owners)
        for _ in range(DEEPEST):
            inner = [value for owner in level for value in _members(owner)]
            level = [member for member in inner if id(member) not in known and self._is_own(type(member))]
            level += [member for member in inner if isinstance(member, list | tuple | dict | set)]
            known |= {id(member) for member in level}
            yield from (type(member) for member in level if self._is_own(type(member)))

    def _is_own(self, cls: type[Any]) -> bool:
        return self.found.files.owns_type(cls)

    def _add(self, definition: Definition, owner: type[Any] | None, *, later: bool = False) -> None:
        key = (id(definition), owner)
        if key not in self._seen:
            self._seen.add(key)
            distance = self._distance if owner is None else int(owner not in self._own)
            (self._later if later else self._ahead).append(Context(definition, owner, distance))

    def _is_seen(self, cls: type[Any]) -> bool:
        """Whether objects of a class may be there: of a family of classes those that were held count."""
        if cls in self._kinds:
            return True
        bases = {base for base in cls.__mro__ if self._is_own(base)}
        alike = [live for live in self._live if bases & {*live}]
        if alike and not any(cls in live for live in alike):
            self._note(self.found.unseen, cls.__name__)
        return not alike

    def _use(self, cls: type[Any]) -> None:
        """A class whose objects the code works with: what operators call, its constructor, and its bases."""
        if cls in self._used or not self._is_seen(cls):
            return
        self._kinds.setdefault(cls)
        self._used.add(cls)
        for base in (ancestor for ancestor in cls.__mro__ if self._is_own(ancestor)):
            file, name = self.found.files.file(base.__module__), base.__qualname__.partition(".")[0]
            if file is None:
                self._note(self.found.missing, name)
                continue
            for definition in file.definitions_of("", name):
                self._add(definition, base)
            for home, member in list(file.definitions):
                if home == name and IMPLIED.match(member):
                    self._each(file.definitions_of(home, member), cls)
            for made in ("__init__", "__new__"):
                self._each(file.definitions_of(name, made), cls, later=True)
        for name in self._named:
            self._member(cls, name)

    def _each(
        self, definitions: Sequence[Definition], owner: type[Any] | None, *, later: bool = False
    ) -> None:
        for definition in definitions:
            self._add(definition, owner, later=later)

    def _member(self, cls: type[Any], name: str, after: type[Any] | None = None) -> bool:
        """Reach a member of a class, or the next one behind a class of its bases; whether there is one."""
        bases = cls.__mro__[cls.__mro__.index(after) + 1 :] if after in cls.__mro__ else cls.__mro__
        for base in bases if after is None or after in cls.__mro__ else ():
            file = self.found.files.file(base.__module__)
            home = base.__qualname__.partition(".")[0]
            found = file.definitions_of(home, name) if file is not None else ()
            if found:
                self._use(cls)
                self._each(found, cls)
                return True
        return False

    def _attribute(self, name: str) -> None:
        """An attribute of an object of unknown class: of every class that has it."""
        if name in self._named:
            return
        self._named.add(name)
        for cls in list(self._kinds):
            stored = any(name in self._stored_names(base) for base in cls.__mro__)
            if not self._member(cls, name) and stored:
                self._use(cls)
        self._value(self._values.get(name))

    def _stored_names(self, cls: type[Any]) -> set[str]:
        file = self.found.files.file(cls.__module__)
        return set() if file is None else file.stored.get(cls.__qualname__, set())

    def _value(self, value: Any) -> None:
        """A function, a class or a container of them that is held or is the value of a constant."""
        for item in (value, *(_members(value) if isinstance(value, list | tuple | dict | set) else ())):
            plain = item.func if isinstance(item, partial) else item
            plain = plain.__func__ if isinstance(plain, MethodType) else plain
            if isinstance(plain, FunctionType):
                self._function(inspect.unwrap(plain))
            elif isinstance(plain, type) and self._is_own(plain):
                self._use(plain)
            elif self._is_own(type(plain)) and self._is_seen(type(plain)):
                self._kinds.setdefault(type(plain))
                if "__call__" in vars(type(plain)):
                    self._use(type(plain))

    def _function(self, function: FunctionType) -> None:
        file = self.found.files.file(function.__module__ or "")
        outer, _, inner = function.__qualname__.partition(".")
        if file is not None:
            found = file.definitions_of(outer, inner) or file.definitions_of("", outer)
            self._each(found, None)

    def _name(self, file: CodeFile, name: str, *, constructing: bool) -> None:
        """A name of a module: a function, a constant or a class."""
        module, own = self.found.files.find(file.module.__name__, name)
        home = self.found.files.file(module) if own else None
        if home is None:
            base = file.imports.get(name, ("", ""))[0]
            if base and self.found.files.owns(base) and self.found.files.file(base) is None:
                self._note(self.found.missing, name)
            return
        value = vars(home.module).get(own)
        if isinstance(value, type) and own in home.classes:
            if self._is_seen(value):
                self._kinds.setdefault(value)
                self._rename(value)
                if not constructing or _is_data(value):
                    self._use(value)
            return
        self._each(home.definitions_of("", own), None)
        self._value(value)

    def _rename(self, cls: type[Any]) -> None:
        """A class that becomes known may have what was asked of objects of unknown class before."""
        for name in list(self._named):
            stored = any(name in self._stored_names(base) for base in cls.__mro__)
            if not self._member(cls, name) and stored:
                self._use(cls)

    def _note(self, where: list[str], name: str) -> None:
        if name not in where:
            where.append(name)

    def _follow(self, context: Context) -> None:
        """Reach what a definition names."""
        definition, owner, _ = context
        node, file = definition.node, definition.file
        if isinstance(node, ast.ClassDef):
            self._follow_class(definition, owner)
            return
        if owner is not None and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self._value(vars(owner).get(definition.name))  # a registry that functions put themselves into
        me = self_argument(node) if definition.owner else ""
        local, skipped = bound_names(node), find_unused_calls(node)
        constructing = definition.name in {"__init__", "__post_init__"}
        for child in without_annotations(node):
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
                if id(child) in skipped:
                    self._note(self.found.passive, child.id)
                elif child.id not in local:
                    self._name(file, child.id, constructing=constructing)
            elif isinstance(child, ast.Attribute):
                self.found.read |= {child.attr} if isinstance(child.ctx, ast.Load) else set()
                if id(child) in skipped:
                    self._note(self.found.passive, child.attr)
                else:
                    self._chain(context, child, me)
            elif (
                isinstance(child, ast.Call)
                and isinstance(child.func, ast.Name)
                and child.func.id == "getattr"
            ):
                self._follow_lookup(file, child)

    def _follow_class(self, definition: Definition, owner: type[Any] | None) -> None:
        """Constants, fields and bases of a class; methods are reached by their names."""
        node: Any = definition.node
        file = definition.file
        trees = (tree for base in [*node.bases, *node.decorator_list] for tree in ast.walk(base))
        for name in (tree.id for tree in trees if isinstance(tree, ast.Name)):
            self._name(file, name, constructing=True)
        for member in file.members(node.name):
            self._add(member, owner)

    def _chain(self, context: Context, node: ast.Attribute, me: str) -> None:
        """An attribute: of the own object, of the bases, of a module, of a class, or of an object of unknown class."""
        definition, owner, _ = context
        match node.value:
            case ast.Name(id=name) if me and name == me and owner is not None:
                self._follow_attribute(owner, node.attr)
                return
            case ast.Call(func=ast.Name(id="super")) if owner is not None:
                home = next((b for b in owner.__mro__ if b.__qualname__ == definition.owner), owner)
                for kind in [candidate for candidate in self._kinds if issubclass(candidate, home)] or [
                    owner
                ]:
                    self._member(kind, node.attr, after=home)
                return
            case ast.Name(id=name):
                module, own = self.found.files.find(definition.file.module.__name__, name)
                home_file = self.found.files.file(module) if own else None
                value = vars(home_file.module).get(own) if home_file is not None else None
                if isinstance(value, type):
                    self._member(value, node.attr)
                    return
        module = self._module_of(definition.file, node.value)
        if module:
            file = self.found.files.file(module)
            if file is not None:
                self._name(file, node.attr, constructing=definition.name == "__init__")
            elif self.found.files.owns(module):
                self._note(self.found.missing, node.attr)
            return
        self._attribute(node.attr)

    def _follow_attribute(self, owner: type[Any], name: str) -> None:
        """An attribute of the object whose method reads it."""
        kinds = [kind for kind in self._kinds if issubclass(kind, owner)] or [owner]
        found = [self._member(kind, name) for kind in kinds]
        if not any(found) and any(isinstance(layer, owner) for layer in self.layers):
            self._value(self._values.get(name))

    def _module_of(self, file: CodeFile, node: ast.expr) -> str:
        """The module that an expression stands for; empty where it is none."""
        match node:
            case ast.Name(id=name):
                base, inner = file.imports.get(name, ("", ""))
                module, own = self.found.files.find(file.module.__name__, name)
                return module if module and not own else base if base and not inner else ""
            case ast.Attribute(value=value, attr=attr):
                outer = self._module_of(file, value)
                inside = f"{outer}.{attr}"
                return inside if outer and inside in sys.modules else ""
        return ""

    def _follow_lookup(self, file: CodeFile, call: ast.Call) -> None:
        """Members that are looked up by a name: all that its beginning fits, or that are written as texts in the file."""
        name = call.args[1] if len(call.args) > 1 else ast.Constant("")
        while isinstance(name, ast.BinOp | ast.JoinedStr):
            name = name.left if isinstance(name, ast.BinOp) else name.values[0]
        begins = str(name.value) if isinstance(name, ast.Constant) else ""
        text = "\n".join(file.lines)
        for kind in list(self._kinds):
            for member in (name for name in dir(kind) if not name.startswith("__")):
                quoted = f'"{member}"' in text or f"'{member}'" in text
                if member.startswith(begins) if begins else quoted:
                    self._member(kind, member)


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
