"""Find the part of an environment's source that a step or reset reaches, through all of its author's files."""

from __future__ import annotations

import ast
import gc
import itertools
import re
from collections import defaultdict, deque
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, is_dataclass
from enum import EnumMeta
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from gymnasium.envs.registration import load_env_creator

from promptpo.envs.foreign import layers_of
from promptpo.spec.code_files import BUILDERS, CodeFiles, Definition
from promptpo.spec.code_names import DRAWING, ROOTS, find_beside_returned, find_drawing, nodes_of

if TYPE_CHECKING:
    from promptpo.spec.code_files import CodeFile

IMPLIED = re.compile(r"__(?!repr|str)\w+__$")
"""Methods that operators and constructors call implicitly."""

MAX_HELD, MAX_MEMBERS = 20_000, 200
"""Objects examined, and members examined of each."""

CONTAINERS = (list, tuple, dict, set)


@dataclass(slots=True)
class Reached:
    """The definitions that step and reset reach.

    Attributes:
        files: The environment's own files.
        shown: Reached definitions, nearest first.
        missing: Names in the environment's own modules that have no readable source.
        unseen: Named classes without an instance, although a related class has one.
        read: Attributes that the code reads.
        running: Number of leading definitions in `shown` that do more than construct objects.
    """

    files: CodeFiles
    shown: list[Definition] = field(default_factory=list)
    missing: dict[str, None] = field(default_factory=dict)
    unseen: dict[str, None] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)
    running: int = 0


def reach(env: Any) -> Reached:
    """Follow every name from ``step`` and ``reset`` of an environment and its author's wrappers.

    An attribute of an object of unknown type may belong to every class that has it and may have instances, so the
    result errs on the side of too much.

    Args:
        env: The environment with its wrappers, after a reset.
    """
    return _Reaching(layers_of(env)).follow_all()


class _Reaching:
    """A breadth-first search over definitions, with constructors last."""

    def __init__(self, layers: Sequence[Any]) -> None:
        self.layers = layers
        own = [cls for layer in layers for cls in type(layer).__mro__]
        self.files, self._own_names = CodeFiles(own), {cls.__name__ for cls in own}
        self.found = Reached(self.files)
        self._queue, self._constructors = deque[Definition](), deque[Definition]()
        self._partly_followed = list[Definition]()
        self._seen, self._used, self._named = set[int](), set[type[Any]](), dict[str, None]()
        self._held = defaultdict[str, list[Any]](list)
        self._kinds = dict.fromkeys(map(type, layers))
        self._find_held(layers)
        self._live = {cls for kind in self._kinds for cls in kind.__mro__ if self.files.owns_type(cls)}

    def follow_all(self) -> Reached:
        """Run the search."""
        for name, layer in itertools.product(ROOTS, reversed(self.layers)):
            self._reach_member(type(layer), name)
            self._follow_queue()
        for definition in self._partly_followed:
            self._follow(definition)
            self._follow_queue()
        self.found.running = len(self.found.shown)
        self._reach_value(_builder_of(self.layers[0]))
        while self._constructors:
            self._queue.append(self._constructors.popleft())
            self._follow_queue()
        return self.found

    def _follow_queue(self) -> None:
        while self._queue:
            definition = self._queue.popleft()
            self.found.shown.append(definition)
            if definition.name in ROOTS and definition.owner in self._own_names:
                self._partly_followed.append(definition)
                self._follow(definition, find_beside_returned(definition.node))
            else:
                self._follow(definition)

    def _find_held(self, layers: Sequence[Any]) -> None:
        """Record the author's classes with live instances, and the values of their attributes by name."""
        ahead, known = deque(layers), set[int]()
        while ahead and len(known) < MAX_HELD:
            value = ahead.popleft()
            own, is_container = self.files.owns_type(type(value)), isinstance(value, CONTAINERS)
            if id(value) in known or not (own or is_container):
                continue
            known.add(id(value))
            inside = getattr(value, "__dict__", {})
            if own:
                self._kinds[type(value)] = None
                for name, inner in inside.items():
                    self._held[name].append(inner)
            inside = value if is_container else inside
            ahead.extend([*(inside.values() if isinstance(inside, dict) else inside)][:MAX_MEMBERS])

    def _add(self, definitions: Sequence[Definition]) -> None:
        for definition in definitions:
            if id(definition) not in self._seen:
                self._seen.add(id(definition))
                queue = self._constructors if definition.name in BUILDERS else self._queue
                queue.append(definition)

    def _may_exist(self, cls: type[Any]) -> bool:
        """Return whether a class may have instances: it does, or no class does that shares a base with it."""
        if cls in self._kinds:
            return True
        if not self._live.isdisjoint(cls.__mro__):
            self.found.unseen |= {} if cls in self._live else {cls.__name__: None}
            return False
        self._kinds[cls] = None
        for name in list(self._named):  # attributes named earlier, of objects of unknown class
            self._reach_member(cls, name)
        return True

    def _use(self, cls: type[Any]) -> None:
        """Reach a class and its bases: constructors, operators, and methods that foreign bases may call."""
        if cls in self._used or not self._may_exist(cls):
            return
        self._used.add(cls)
        others = [base for base in cls.__mro__[:-1] if not self.files.owns_type(base)]
        called = {name for base in others for name in vars(base) if not DRAWING.match(name)} - {*ROOTS}
        for base in filter(self.files.owns_type, cls.__mro__):
            file, name = self.files.file(base.__module__), base.__qualname__.partition(".")[0]
            if file is None:
                self.found.missing[name] = None
                continue
            self._add(file.definitions_of("", name))
            for (home, member), found in list(file.definitions.items()):
                if home == name and (member in called or IMPLIED.match(member)):
                    self._add(found)

    def _reach_member(self, cls: type[Any], name: str, after: str = "") -> None:
        """Reach a member of a class, or the next one in its method resolution order after the class `after`."""
        names = [base.__qualname__ for base in cls.__mro__]
        for base in cls.__mro__[names.index(after) + 1 if after else 0 :]:
            file = self.files.file(str(getattr(base, "__module__", "")))
            outer, _, inner = base.__qualname__.partition(".")
            found = file.definitions_of(outer, name) if file is not None else ()
            if inner and file is not None and name in vars(base):  # of a function or of another class
                found = file.definitions_of(outer, inner) or file.definitions_of("", outer)
            if found:
                self._use(cls)
                self._add(found)
                return

    def _reach_attribute(self, name: str) -> None:
        """Reach an attribute of an object of unknown class, in every class that has it."""
        if name not in self._named:
            self._named[name] = None
            for cls in list(self._kinds):
                self._reach_member(cls, name)
            for value in self._held.get(name, ()):
                self._reach_value(value)

    def _reach_value(self, value: Any, depth: int = 3) -> None:
        """Reach the definition of a function, a class or an object's class, or of those that a value refers to."""
        if isinstance(value, FunctionType):
            outer, _, member = value.__qualname__.partition(".")
            file = self.files.file(value.__module__ or "")
            if file is not None:
                self._add(file.definitions_of(outer, member) or file.definitions_of("", outer))
        elif isinstance(value, type):
            if self.files.owns_type(value):
                self._use(value)
        elif self.files.owns_type(type(value)):
            self._use(type(value))
        elif depth and not isinstance(value, ModuleType):
            for inner in gc.get_referents(value)[:MAX_MEMBERS]:
                self._reach_value(inner, depth - 1)

    def _reach_name(self, file: CodeFile, name: str) -> None:
        """Reach a name of a module, where it is defined or was imported from."""
        here, held = file.definitions_of("", name), vars(file.module)
        if name not in held and name not in file.origins:
            return
        self._add(here)
        if all(definition.is_import for definition in here):
            self._add(self.files.definitions_of(file.origins.get(name, name), held.get(name, ...)))
        self._reach_value(held.get(name))

    def _follow(self, definition: Definition, beside: AbstractSet[ast.AST] = frozenset()) -> None:
        """Reach the names in a definition, except in the nodes `beside`."""
        node, file = definition.node, definition.file
        trees: list[ast.AST] = [] if definition.is_import else [node]
        if isinstance(node, ast.ClassDef) and not definition.owner:  # its methods are reached by name
            trees = [*node.bases, *node.decorator_list]
            held = vars(file.module).get(node.name)
            is_whole = isinstance(held, EnumMeta) or hasattr(held, "_fields") or is_dataclass(held)
            self._add([m for m in file.members(node.name) if is_whole or m.name in self._named])
        beside = beside | find_drawing(node)
        for child in (child for tree in trees for child in nodes_of(tree) if child not in beside):
            if isinstance(child, ast.Name):
                if definition.owner:  # a member, named in the body of its class
                    self._add(file.definitions_of(definition.owner, child.id))
                self._reach_name(file, child.id)
            else:
                self._follow_node(definition, child)

    def _follow_node(self, definition: Definition, node: ast.AST) -> None:
        """Reach the target of an attribute access, or of a ``getattr`` call."""
        file = definition.file
        match node:
            case ast.Attribute(ast.Call(func=ast.Name("super")), name):
                for kind in list(self._kinds):
                    if any(base.__qualname__ == definition.owner for base in kind.__mro__):
                        self._reach_member(kind, name, after=definition.owner)
            case ast.Attribute(value, name, ctx):
                self.found.read |= {name} if isinstance(ctx, ast.Load) else set()
                self._reach_attribute_of(self._module_of(file, value), name)
            case ast.Call(ast.Name("getattr"), [_, member, *_]):
                self._follow_lookup(file, member)

    def _reach_attribute_of(self, module: ModuleType | None, name: str) -> None:
        """Reach an attribute of a module, or of an object if `module` is None."""
        if module is None:
            self._reach_attribute(name)
        elif inside := self.files.file(module.__name__):
            self._reach_name(inside, name)
        elif self.files.owns(module.__name__):
            self.found.missing[name] = None

    def _module_of(self, file: CodeFile, node: ast.expr) -> ModuleType | None:
        """Return the module that an expression denotes, perhaps as an object's attribute; None if it is no module."""
        values: list[Any] = []
        match node:
            case ast.Name(name):
                values = [vars(file.module).get(name)]
            case ast.Attribute(inner, name):
                outer = self._module_of(file, inner)
                values = self._held.get(name, []) if outer is None else [vars(outer).get(name)]
        return next((value for value in values if isinstance(value, ModuleType)), None)

    def _follow_lookup(self, file: CodeFile, name: ast.expr) -> None:
        """Reach members looked up by a computed name: all that contain its first literal, or without one all quoted in the file."""
        part = next((str(n.value) for n in ast.walk(name) if isinstance(n, ast.Constant)), "")
        quoted = {*re.findall(r"""["'](\w+)["']""", "\n".join(file.lines))}
        for kind in list(self._kinds):
            for member in dir(kind):
                if not member.startswith("__") and (part in member if part else member in quoted):
                    self._reach_member(kind, member)


def _builder_of(env: Any) -> Any:
    """Return the function that built an environment, perhaps with wrappers; None if it was a class."""
    entry: Any = getattr(getattr(env, "spec", None), "entry_point", None)
    entry = load_env_creator(entry) if isinstance(entry, str) else entry
    return None if isinstance(entry, type) else entry
