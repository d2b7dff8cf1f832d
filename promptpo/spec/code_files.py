"""Split an environment's own files into whole definitions with their comments."""

from __future__ import annotations

import ast
import functools
import inspect
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

INSTALLED = {"site-packages", "dist-packages"}
"""Folders of installed packages."""

STANDARD = Path(os.__file__).parent
"""Folder of the standard library."""

GENERAL = re.compile(
    r"(?:gymnasium|gym)(?!\.envs\.\w+\.)\b|(?:shimmy|promptpo(?:_sandbox|(?!\.demo\.))|builtins|abc|typing|enum|collections|dataclasses|torch|numpy)\b"
)
"""General-purpose modules, which belong to no task."""

BUILDERS = ("__init__", "__post_init__", "__new__")
"""Methods that construct an object."""


@dataclass(frozen=True, eq=False, slots=True)
class Definition:
    """A whole function, method, class, assignment or import.

    Attributes:
        file: The file that holds it.
        owner: The class that holds it; empty at module level.
        name: Its name.
        node: Its syntax tree.
        lines: Indices of its lines, including comments directly above it.
    """

    file: CodeFile
    owner: str
    name: str
    node: ast.stmt
    lines: range

    @property
    def label(self) -> str:
        """Its name, preceded by that of its class."""
        return f"{self.owner}.{self.name}" if self.owner else self.name

    @property
    def text(self) -> str:
        """Its source."""
        return "\n".join(self.file.lines[self.lines.start : self.lines.stop])

    @property
    def is_function(self) -> bool:
        """Whether it is a function or a method."""
        return isinstance(self.node, ast.FunctionDef | ast.AsyncFunctionDef)

    @property
    def is_import(self) -> bool:
        """Whether it is an import."""
        return isinstance(self.node, ast.Import | ast.ImportFrom)


@dataclass(eq=False, slots=True)
class CodeFile:
    """A module's source.

    Attributes:
        module: The imported module.
        lines: Its text.
        definitions: Owner and name to the definitions; conditions may lead to several.
        origins: Names imported from modules, also inside functions, to their original names.
    """

    module: ModuleType
    lines: Sequence[str]
    definitions: dict[tuple[str, str], list[Definition]] = field(default_factory=lambda: defaultdict(list))
    origins: dict[str, str] = field(default_factory=dict)

    def definitions_of(self, owner: str, name: str) -> Sequence[Definition]:
        """Return the definitions of a name in a class, or at module level; empty if there are none."""
        return self.definitions.get((owner, name), ())

    def members(self, owner: str) -> Iterator[Definition]:
        """Yield the members of a class other than methods: constants, fields, enumeration values."""
        for (home, _), found in self.definitions.items():
            if home == owner:
                yield from (definition for definition in found if not definition.is_function)

    @property
    def label(self) -> str:
        """Its path from its top-level package on."""
        place = Path(self.module.__file__ or self.module.__name__)
        depth = len(self.module.__name__.split(".")) + (place.stem == "__init__")
        return "/".join(place.parts[-depth:])


def read_file(module: ModuleType) -> CodeFile | None:
    """Split a module into definitions; None if it has no readable source, for example if it is compiled."""
    try:
        return _split(module, inspect.getsource(module))
    except (OSError, TypeError, SyntaxError, ValueError, RecursionError):
        return None


@functools.cache
def _split(module: ModuleType, text: str) -> CodeFile:
    tree: Any = ast.parse(text)
    file = CodeFile(module, text.split("\n"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            file.origins.update({alias.asname or alias.name: alias.name for alias in node.names})
    _define(file, "", tree.body)
    if ast.get_docstring(tree):
        _add(file, "", "__doc__", tree.body[0])
    return file


def _define(file: CodeFile, owner: str, body: Sequence[ast.stmt], whole: ast.stmt | None = None) -> None:
    """Record the definitions among statements; `whole` is the outermost compound statement around them."""
    for node in body:
        if isinstance(node, ast.If | ast.Try | ast.With | ast.ExceptHandler):
            for part in ("body", "orelse", "handlers", "finalbody"):
                _define(file, owner, getattr(node, part, []), whole or node)
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            _add(file, owner, node.name, node)
        else:
            for name in sorted(_bound_by(node)):
                _add(file, owner, name, whole or node)
        if isinstance(node, ast.ClassDef) and not owner:
            _define(file, node.name, node.body)


def _add(file: CodeFile, owner: str, name: str, node: ast.stmt) -> None:
    decorators = [decorator.lineno for decorator in getattr(node, "decorator_list", ())]
    first = min([node.lineno, *decorators]) - 1
    while first and file.lines[first - 1].lstrip().startswith("#"):
        first -= 1
    found = file.definitions[owner, name]
    if all(definition.node is not node for definition in found):
        found.append(Definition(file, owner, name, node, range(first, node.end_lineno or node.lineno)))


def _bound_by(node: ast.stmt) -> set[str]:
    """Return the names that a statement binds, or modifies through an index, an attribute or a method call."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    roots: list[Any] = [
        child
        for child in ast.walk(node)
        if isinstance(child, ast.Name | ast.Attribute | ast.Subscript) and not isinstance(child.ctx, ast.Load)
    ]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        roots.append(node.value.func)
    return {name for root in roots if (name := _root_name(root))}


def _root_name(node: ast.expr) -> str:
    """Return the leftmost name of attributes and subscripts; empty if it is no name."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


class CodeFiles:
    """The files of an environment's author: those of its classes' packages, and all that are not installed.

    Args:
        classes: The environment's classes.
    """

    def __init__(self, classes: Sequence[type[Any]]) -> None:
        names = (cls.__module__ for cls in classes)
        self._packages = {name.partition(".")[0] for name in names if not GENERAL.match(name)}
        self._read: dict[str, CodeFile | None] = {}
        self._modules = [module for name, module in [*sys.modules.items()] if self.owns(name)]

    def owns(self, module: str) -> bool:
        """Return whether a module is the environment's own."""
        place = getattr(sys.modules.get(module), "__file__", None)
        if not place:
            return module == "__main__"
        return not GENERAL.match(module) and (module.partition(".")[0] in self._packages or _is_local(place))

    def owns_type(self, cls: type[Any]) -> bool:
        """Return whether a class is from one of its own modules; SWIG classes, as in Box2D, may have no module."""
        return self.owns(str(getattr(cls, "__module__", "")))

    def file(self, module: str) -> CodeFile | None:
        """Return the split file of one of its own modules; None for other modules and unreadable ones."""
        if module not in self._read:
            self._read[module] = read_file(sys.modules[module]) if self.owns(module) else None
        return self._read[module]

    def definitions_of(self, name: str, value: Any) -> list[Definition]:
        """Return the definitions of a name in modules where it has this value; an ellipsis matches any value."""
        alike = (m for m in self._modules if name in vars(m) and (value is ... or vars(m)[name] is value))
        files = (self.file(module.__name__) for module in alike)
        found = (d for file in files if file for d in file.definitions_of("", name) if not d.is_import)
        return [] if isinstance(value, ModuleType) else [*found]


@functools.cache
def _is_local(place: str) -> bool:
    """Return whether a file belongs neither to an installed package nor to the standard library."""
    path = Path(place)
    installed = INSTALLED & {*path.parts} or any(map(_is_installed_into, path.parents))
    return not installed and not path.is_relative_to(STANDARD)


@functools.cache
def _is_installed_into(folder: Path) -> bool:
    """Return whether packages were installed into a folder, as by `pip install --target`."""
    return any(folder.glob("*.dist-info"))
