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
from functools import partial
from operator import attrgetter
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from gymnasium.envs.registration import load_env_creator

from promptpo.envs.foreign import layers_of
from promptpo.spec.code_files import BUILDERS, CodeFiles, Definition
from promptpo.spec.code_names import (
    DRAWING,
    RETURNED,
    bound_names,
    find_beside_reward,
    find_idle,
    find_unused,
    name_of,
    nodes_of,
)

if TYPE_CHECKING:
    from promptpo.spec.code_files import CodeFile

IMPLIED = re.compile(
    r"__(?!repr|str|del|hash|doc|slots|version|author|all|getstate|setstate|deepcopy|copy|reduce)\w+__$"
)
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
        passive: Names called only to render or to fill ``info``.
        missing: Names in the environment's own modules that have no readable source.
        unseen: Named classes without an instance, although a related class has one.
        read: Attributes that the code reads.
        running: Number of leading definitions in `shown` that do more than construct objects.
    """

    files: CodeFiles
    shown: list[Definition] = field(default_factory=list)
    passive: dict[str, None] = field(default_factory=dict)
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
        self._partly_followed, self._idle = list[Definition](), dict[Definition, None]()
        self._unnamed = defaultdict[str, list[Definition]](list)
        """Class members that no code has named yet."""
        self._seen, self._used, self._named = set[int](), set[type[Any]](), dict[str, None]()
        self._held = defaultdict[str, list[tuple[type[Any], Any]]](list)
        self._kinds = dict.fromkeys(map(type, layers))
        self._find_held(layers)
        self._live = [{*filter(self.files.owns_type, kind.__mro__)} for kind in self._kinds]

    def follow_all(self) -> Reached:
        """Run the search."""
        for name, layer in itertools.product(("step", "reward", "reset"), reversed(self.layers)):
            self._reach_member(type(layer), name)
            self._follow_queue()
        while self._partly_followed:
            self._partly_followed.sort(key=attrgetter("name"))
            self._follow(self._partly_followed.pop())  # the nodes skipped at first, of step and then of reset
            self._follow_queue()
        for layer in reversed(self.layers):
            for name in ("seed", "action_space", "observation_space"):
                self._reach_member(type(layer), name)
            self._use(type(layer))
        self._follow_queue()
        self.found.running = len(self.found.shown)
        self._reach_value(_builder_of(self.layers[0]))
        while self._constructors or self._idle:
            if self._constructors:
                self._queue.append(self._constructors.popleft())
            else:
                self._follow(self._idle.popitem()[0], whole=True)
            self._follow_queue()
        return self.found

    def _follow_queue(self) -> None:
        while self._queue:
            definition = self._queue.popleft()
            self.found.shown.append(definition)
            is_partial = definition.name in RETURNED and definition.owner in self._own_names
            self._follow(definition, find_beside_reward(definition.node) if is_partial else frozenset())
            if is_partial:
                self._partly_followed.append(definition)

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
                    self._held[name].append((type(value), inner))
            inside = value if is_container else inside
            ahead.extend([*(inside.values() if isinstance(inside, dict) else inside)][:MAX_MEMBERS])

    def _add(self, definitions: Sequence[Definition]) -> None:
        for definition in definitions:
            if id(definition) not in self._seen:
                self._seen.add(id(definition))
                queue = self._constructors if definition.name in BUILDERS else self._queue
                (queue.append if definition.is_function else queue.appendleft)(definition)

    def _meet(self, cls: type[Any]) -> bool:
        """Assume instances of a class, unless a related class has live ones instead; return whether it may have any."""
        if cls in self._kinds:
            return True
        bases = {*filter(self.files.owns_type, cls.__mro__)}
        family = set[type[Any]]().union(*(live for live in self._live if bases & live))
        if family:
            self.found.unseen |= {} if cls in family else {cls.__name__: None}
            return False
        self._kinds[cls] = None
        for name in list(self._named):  # attributes named earlier, of objects of unknown class
            self._reach_member(cls, name)
        return True

    def _use(self, cls: type[Any]) -> None:
        """Reach a class and its bases: constructors, operators, and methods that foreign bases may call."""
        if cls in self._used or not self._meet(cls):
            return
        self._used.add(cls)
        others = [base for base in cls.__mro__[:-1] if not self.files.owns_type(base)]
        called = {name for base in others for name in vars(base) if not DRAWING.match(name)} - {*RETURNED}
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
            found = file.definitions_of(base.__qualname__.partition(".")[0], name) if file is not None else ()
            if found:
                self._use(cls)
                self._add(found)
                return

    def _reach_attribute(self, name: str) -> None:
        """Reach an attribute of an object of unknown class, in every class that has it."""
        if name not in self._named:
            self._named[name] = None
            self._add(self._unnamed.pop(name, ()))
            for cls in list(self._kinds):
                self._reach_member(cls, name)
            for owner, value in self._held.get(name, ()):
                self._use(owner)
                self._reach_value(value)

    def _reach_value(self, value: Any, depth: int = 3) -> None:
        """Reach the definition of a function, class or callable object, or of those in a container."""
        if isinstance(value, FunctionType) and "__wrapped__" not in value.__dict__:
            outer, _, member = value.__qualname__.partition(".")
            file = self.files.file(value.__module__ or "")
            if file is not None:
                self._add(file.definitions_of(outer, member) or file.definitions_of("", outer))
        elif isinstance(value, type):
            if self.files.owns_type(value):
                self._use(value)
        elif self.files.owns_type(type(value)) and self._meet(type(value)):
            if "__call__" in vars(type(value)):
                self._use(type(value))
        elif depth and not isinstance(value, ModuleType):
            for item in _held_by(value)[:MAX_MEMBERS]:
                self._reach_value(item, depth - 1)

    def _reach_name(self, file: CodeFile, name: str) -> None:
        """Reach a name of a module, where it is defined or was imported from."""
        here, held = file.definitions_of("", name), vars(file.module)
        if name not in held and name not in file.origins and name not in self._unnamed:
            return
        self._add([*here, *self._unnamed.pop(name, ())])
        if all(definition.is_import for definition in here):
            self._add(self.files.definitions_of(file.origins.get(name, name), held.get(name, ...)))
        self._reach_value(held.get(name))

    def _follow(
        self, definition: Definition, beside: AbstractSet[int] = frozenset(), *, whole: bool = False
    ) -> None:
        """Reach the names in a definition, except in the nodes `beside` and, unless `whole`, in idle ones."""
        node, file = definition.node, definition.file
        trees: list[ast.AST] = [] if definition.is_import else [node]
        if isinstance(node, ast.ClassDef):  # its methods are reached by name
            trees = [*node.bases, *node.decorator_list]
            held = vars(file.module).get(node.name)
            is_whole = isinstance(held, EnumMeta) or hasattr(held, "_fields") or is_dataclass(held)
            for member in file.members(node.name):
                if is_whole or member.name in self._named:
                    self._add([member])
                else:
                    self._unnamed[member.name].append(member)
        elif definition.owner and not definition.is_function:  # may be a registry of functions
            self._reach_value(getattr(vars(file.module).get(definition.owner), definition.name, None))
        skipped = find_unused(node, of_environment=definition.owner in self._own_names)
        local, idle = bound_names(node), set() if whole else find_idle(node, self._flag)
        self._idle |= {definition: None} if idle else {}
        beside = beside | idle
        for child in (child for tree in trees for child in nodes_of(tree) if id(child) not in beside):
            if id(child) in skipped:
                name = name_of(child)
                self.found.passive |= {name: None} if self.files.has_function(file, name) else {}
            elif not isinstance(child, ast.Name):
                self._follow_node(definition, child)
            elif child.id not in local:
                self._reach_name(file, child.id)

    def _flag(self, name: str) -> bool | None:
        """Return the value of a boolean attribute that is the same in all objects and never changes; else None."""
        values = [value for _, value in self._held.get(name, ())]
        is_flag = bool(values) and all(value is values[0] for value in values)
        known = is_flag and isinstance(values[0], bool) and not self.files.changes(name)
        return values[0] if known else None

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
                held = [value for _, value in self._held.get(name, ())]
                values = held if outer is None else [vars(outer).get(name)]
        return next((value for value in values if isinstance(value, ModuleType)), None)

    def _follow_lookup(self, file: CodeFile, name: ast.expr) -> None:
        """Reach members looked up by a computed name: all that contain its first literal, or without one all quoted in the file."""
        part = next((str(n.value) for n in ast.walk(name) if isinstance(n, ast.Constant)), "")
        quoted = {*re.findall(r"""["'](\w+)["']""", "\n".join(file.lines))}
        for kind in list(self._kinds):
            for member in dir(kind):
                if not member.startswith("__") and (part in member if part else member in quoted):
                    self._reach_member(kind, member)


def _held_by(value: Any) -> list[Any]:
    """Return what a container, a partial or a method holds, or the functions that a library's object may call."""
    inside = getattr(value, "__dict__", {})
    if "__wrapped__" in inside or isinstance(value, (*CONTAINERS, partial, MethodType)):
        return gc.get_referents(value)
    return [item for item in inside.values() if isinstance(item, FunctionType | MethodType)]


def _builder_of(env: Any) -> Any:
    """Return the function that built an environment, perhaps with wrappers; None if it was a class."""
    entry: Any = getattr(getattr(env, "spec", None), "entry_point", None)
    entry = load_env_creator(entry) if isinstance(entry, str) else entry
    return None if isinstance(entry, type) else entry
