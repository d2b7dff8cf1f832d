"""Find the part of an environment's source that a step or reset reaches, through all of its author's files."""

from __future__ import annotations

import ast
import gc
import heapq
import itertools
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, is_dataclass
from enum import EnumMeta
from operator import itemgetter
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from gymnasium.envs.registration import load_env_creator

from promptpo.envs.foreign import layers_of
from promptpo.spec.calls import DRAWING, MAY_RUN, ROOTS
from promptpo.spec.code_files import BUILDERS, CodeFiles, Definition
from promptpo.spec.code_names import find_drawing, nodes_of

if TYPE_CHECKING:
    from promptpo.spec.calls import CallRanks
    from promptpo.spec.code_files import CodeFile

IMPLIED = re.compile(r"__(?!repr|str)\w+__$")
"""Methods that operators and constructors call implicitly."""

MAX_HELD, MAX_MEMBERS = 20_000, 200
"""Objects examined, and members examined of each."""

CONTAINERS = (list, tuple, dict, set)

CONSTRUCTS = 3
"""Rank of constructors."""


@dataclass(slots=True)
class Reached:
    """The definitions that step and reset reach.

    Attributes:
        files: The environment's own files.
        shown: Reached definitions, nearest first.
        missing: Names in the environment's own modules that have no readable source.
        read: Attributes that the code reads.
        running: Number of leading definitions in `shown` that do more than construct objects.
    """

    files: CodeFiles
    shown: list[Definition] = field(default_factory=list)
    missing: dict[str, None] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)
    running: int = 0


def reach(env: Any, called: CallRanks) -> Reached:
    """Collect what ``step`` and ``reset`` of an environment and its author's wrappers called, and what they may call.

    What a step called comes first, then what a reset called, then all names that these mention, and last what only
    constructs objects; of each, the shortest first, so that one long function does not displace many. An attribute of
    an object of unknown type may belong to every class that has it, so the result errs on the
    side of too much.

    Args:
        env: The environment with its wrappers, after a reset.
        called: The functions that observed episodes called.
    """
    return _Reaching(layers_of(env), called).follow_all()


class _Reaching:
    """A best-first search over definitions."""

    def __init__(self, layers: Sequence[Any], called: CallRanks) -> None:
        self.layers, self._ranks = layers, dict[int, int]()
        self._home = type(layers[-1]).__module__
        own = [cls for layer in layers for cls in type(layer).__mro__]
        self.files = CodeFiles(own)
        self.found = Reached(self.files)
        self._queue = list[tuple[int, int, int, Definition]]()
        """Rank, length, order and definition of what is yet to be followed."""
        self._seen, self._used, self._named = set[int](), set[type[Any]](), dict[str, None]()
        self._kinds = dict.fromkeys(map(type, layers))
        self._find_held(layers)
        self._live = {cls for kind in self._kinds for cls in kind.__mro__ if self.files.owns_type(cls)}
        for (module, line), rank in sorted(called.items(), key=itemgetter(1)):
            file = self.files.file(module)
            for definition in itertools.chain(*file.definitions.values()) if file is not None else ():
                if line - 1 in definition.lines and (definition.owner or definition.is_function):
                    self._ranks.setdefault(id(definition), rank)
                    self._add([definition])

    def follow_all(self) -> Reached:
        """Run the search."""
        for name, layer in itertools.product(ROOTS, reversed(self.layers)):
            self._reach_member(type(layer), name)
        self._follow_queue(MAY_RUN)
        self.found.running = len(self.found.shown)
        self._reach_value(_builder_of(self.layers[0]))
        self._follow_queue(CONSTRUCTS)
        return self.found

    def _follow_queue(self, most: int) -> None:
        while self._queue and self._queue[0][0] <= most:
            definition = heapq.heappop(self._queue)[-1]
            self.found.shown.append(definition)
            self._follow(definition)

    def _find_held(self, layers: Sequence[Any]) -> None:
        """Record the author's classes with live instances."""
        ahead, known = deque(layers), set[int]()
        while ahead and len(known) < MAX_HELD:
            value = ahead.popleft()
            own, is_container = self.files.owns_type(type(value)), isinstance(value, CONTAINERS)
            if id(value) in known or not (own or is_container):
                continue
            known.add(id(value))
            if own:
                self._kinds[type(value)] = None
            inside = value if is_container else getattr(value, "__dict__", {})
            ahead.extend([*(inside.values() if isinstance(inside, dict) else inside)][:MAX_MEMBERS])

    def _add(self, definitions: Sequence[Definition]) -> None:
        for definition in definitions:
            rank = self._ranks.get(id(definition), MAY_RUN) if definition.is_function else 0
            module = definition.file.module.__name__
            if id(definition) not in self._seen and not (
                rank == MAY_RUN and module.startswith("gymnasium.") and module != self._home
            ):
                self._seen.add(id(definition))
                rank = CONSTRUCTS if definition.name in BUILDERS else rank
                heapq.heappush(self._queue, (rank, len(definition.text), len(self._seen), definition))

    def _use(self, cls: type[Any]) -> None:
        """Reach a class and its bases: constructors, operators, and methods that foreign bases may call."""
        if cls in self._used or (cls not in self._kinds and not self._live.isdisjoint(cls.__mro__)):
            return  # it has no instance although a related class has one
        self._used.add(cls)
        if cls not in self._kinds:
            self._kinds[cls] = None
            for name in list(self._named):  # attributes named earlier, of objects of unknown class
                self._reach_member(cls, name)
        others = [base for base in cls.__mro__[:-1] if not self.files.owns_type(base)]
        called = {name for base in others for name in vars(base) if not DRAWING.match(name)}
        for base in filter(self.files.owns_type, cls.__mro__):
            file, name = self.files.file(base.__module__), base.__qualname__.partition(".")[0]
            if file is None:
                self.found.missing[name] = None
                continue
            self._add(file.definitions_of("", name))
            for (home, member), found in list(file.definitions.items()):
                if home == name and (member in called or IMPLIED.match(member)):
                    self._add(found)

    def _reach_member(self, cls: type[Any], name: str) -> None:
        """Reach a member of a class or of its bases."""
        for base in cls.__mro__:
            file = self.files.file(str(getattr(base, "__module__", "")))
            outer, _, inner = base.__qualname__.partition(".")
            found = file.definitions_of(outer, name) if file is not None else ()
            if inner and file is not None and name in vars(base):  # of a function or of another class
                found = file.definitions_of(outer, inner) or file.definitions_of("", outer)
            if found:
                self._use(cls)
                self._add(found)
                return

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

    def _follow(self, definition: Definition) -> None:
        """Reach the names in a definition."""
        node, file = definition.node, definition.file
        trees: list[ast.AST] = [] if definition.is_import else [node]
        if isinstance(node, ast.ClassDef) and not definition.owner:  # its methods are reached by name
            trees = [*node.bases, *node.decorator_list]
            held = vars(file.module).get(node.name)
            is_whole = isinstance(held, EnumMeta) or hasattr(held, "_fields") or is_dataclass(held)
            self._add([m for m in file.members(node.name) if is_whole or m.name in self._named])
        beside = find_drawing(node)
        for child in (child for tree in trees for child in nodes_of(tree) if child not in beside):
            if isinstance(child, ast.Name):
                if definition.owner:  # a member, named in the body of its class
                    self._add(file.definitions_of(definition.owner, child.id))
                self._reach_name(file, child.id)
            elif isinstance(child, ast.Attribute):
                self.found.read |= {child.attr} if isinstance(child.ctx, ast.Load) else set()
                self._reach_attribute_of(_module_of(file, child.value), child.attr)

    def _reach_attribute_of(self, module: ModuleType | None, name: str) -> None:
        """Reach an attribute of a module, or if that is None of an object of unknown class, in all that have it."""
        if module is None:
            kinds = [] if name in self._named else list(self._kinds)
            self._named[name] = None
            for cls in kinds:
                self._reach_member(cls, name)
        elif inside := self.files.file(module.__name__):
            self._reach_name(inside, name)
        elif self.files.owns(module.__name__):
            self.found.missing[name] = None


def _module_of(file: CodeFile, node: ast.expr) -> ModuleType | None:
    """Return the module that an expression denotes; None if it is no module."""
    value: Any = None
    match node:
        case ast.Name(name):
            value = vars(file.module).get(name)
        case ast.Attribute(inner, name):
            value = getattr(_module_of(file, inner), name, None)
    return value if isinstance(value, ModuleType) else None


def _builder_of(env: Any) -> Any:
    """Return the function that built an environment, perhaps with wrappers; None if it was a class."""
    entry: Any = getattr(getattr(env, "spec", None), "entry_point", None)
    entry = load_env_creator(entry) if isinstance(entry, str) else entry
    return None if isinstance(entry, type) else entry
