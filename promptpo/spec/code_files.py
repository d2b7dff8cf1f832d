"""Files of an environment's own, taken apart into whole definitions with the comments that belong to them."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

INSTALLED = ("site-packages", "dist-packages")
"""Folders of packages that somebody else wrote."""

GENERAL = re.compile(
    r"(?:gymnasium|gym)(?!\.envs\.\w+\.)\b|(?:shimmy|promptpo(?!\.demo\.)|builtins|abc|typing|enum|collections|dataclasses|torch|numpy)\b"
)
"""Modules that are about no task, whichever class inherits from them."""


@dataclass(frozen=True, eq=False, slots=True)
class Definition:
    """A function, a method, a class or an assignment, whole.

    Attributes:
        file: Where it stands.
        owner: The class that holds it; empty at module level.
        name: Its name.
        node: Its syntax tree.
        lines: Indices of its lines, those of comments directly above it included.
    """

    file: CodeFile
    owner: str
    name: str
    node: ast.stmt
    lines: range

    @property
    def label(self) -> str:
        """The name that a reader knows it by."""
        return f"{self.owner}.{self.name}" if self.owner else self.name

    @property
    def text(self) -> str:
        """Its lines as they stand."""
        return "\n".join(self.file.lines[i] for i in self.lines)


@dataclass(eq=False, slots=True)
class CodeFile:
    """A module's source.

    Attributes:
        module: The imported module.
        lines: Its text.
        classes: Name to syntax tree of each class at module level.
        definitions: (class or "", name) to what defines it, in order.
        imports: Name to the module that it comes from and its name there; empty for the module itself.
        stars: Modules from which all names are imported.
    """

    module: Any
    lines: Sequence[str]
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    definitions: dict[tuple[str, str], list[Definition]] = field(default_factory=lambda: defaultdict(list))
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)

    def definitions_of(self, owner: str, name: str) -> Sequence[Definition]:
        """Return the definitions of a name in a class, or at module level; empty if there are none."""
        return self.definitions.get((owner, name), ())

    def members(self, owner: str) -> Iterator[Definition]:
        """Yield the members of a class that are no methods: constants, fields, values of an enumeration."""
        for (home, _), found in self.definitions.items():
            if home == owner:
                yield from (
                    definition for definition in found if not isinstance(definition.node, ast.FunctionDef)
                )


def read_file(module: Any) -> CodeFile | None:
    """Take a module apart; None where its source cannot be read, as in compiled ones."""
    try:
        text = inspect.getsource(module)
        tree = ast.parse(text)
    except (OSError, TypeError, SyntaxError, ValueError, RecursionError):
        return None
    file = CodeFile(module, text.split("\n"))
    _note_imports(file, tree)
    _define(file, "", tree.body)
    return file


def _note_imports(file: CodeFile, tree: ast.Module) -> None:
    package = getattr(file.module, "__package__", None) or ""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                file.imports[alias.asname or whole] = (whole, "")
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                try:
                    base = importlib.util.resolve_name("." * node.level + base, package)
                except (ImportError, ValueError):
                    continue
            for alias in node.names:
                if alias.name == "*":
                    file.stars.append(base)
                else:
                    inner = sys.modules.get(f"{base}.{alias.name}")
                    is_module = inner and getattr(sys.modules.get(base), alias.name, inner) is inner
                    told = (f"{base}.{alias.name}", "") if is_module else (base, alias.name)
                    file.imports[alias.asname or alias.name] = told


def _define(file: CodeFile, owner: str, body: Sequence[ast.stmt], whole: ast.stmt | None = None) -> None:
    """Note the definitions among statements; `whole` is the condition or attempt that they stand in."""
    for node in body:
        inner = [getattr(node, part, []) for part in ("body", "orelse", "handlers", "finalbody")]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            _add(file, owner, node.name, node)
        elif isinstance(node, ast.ClassDef) and not owner:
            file.classes[node.name] = node
            _add(file, owner, node.name, node)
            _define(file, node.name, node.body)
        elif isinstance(node, ast.ClassDef):
            _add(file, owner, node.name, node)
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.ExceptHandler):
            if not _is_script(node):
                for part in inner:
                    _define(file, owner, part, whole or node)
        else:
            for name in sorted(_bound_by(node)):
                _add(file, owner, name, whole or node)


def _is_script(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and bool(re.search(r"__name__|TYPE_CHECKING", ast.unparse(node.test)))


def _add(file: CodeFile, owner: str, name: str, node: ast.stmt) -> None:
    decorators = [decorator.lineno for decorator in getattr(node, "decorator_list", ())]
    first = min([node.lineno, *decorators]) - 1
    while first and file.lines[first - 1].lstrip().startswith("#"):
        first -= 1
    found = file.definitions[owner, name]
    if all(definition.node is not node for definition in found):
        found.append(Definition(file, owner, name, node, range(first, node.end_lineno or node.lineno)))


def _bound_by(node: ast.stmt) -> set[str]:
    """Names that a statement binds, or changes by an index, an attribute or a method."""
    found = set[str]()
    for child in ast.walk(node):
        if isinstance(child, ast.Name | ast.Attribute | ast.Subscript) and not isinstance(
            child.ctx, ast.Load
        ):
            root: ast.AST = child
            while isinstance(root, ast.Attribute | ast.Subscript):
                root = root.value
            found |= {root.id} if isinstance(root, ast.Name) else set()
    match node:
        case ast.Expr(ast.Call(ast.Attribute(value=ast.Name(id=name)))):
            found.add(name)
        case ast.AnnAssign(target=ast.Name(id=name)):
            found.add(name)
    return found


class CodeFiles:
    """The files of an environment's own folder or package, and of those that its classes come from.

    Args:
        classes: The environment's classes.
    """

    def __init__(self, classes: Sequence[type[Any]]) -> None:
        own = (cls for cls in classes if not GENERAL.match(cls.__module__))
        self._roots = [root for cls in own if (root := _root_of(sys.modules.get(cls.__module__)))]
        self._read: dict[str, CodeFile | None] = {}

    def owns(self, module: str) -> bool:
        """Whether a module is of the environment's own."""
        place = getattr(sys.modules.get(module), "__file__", None)
        if GENERAL.match(module) or not place:
            return module == "__main__"
        parts = [Path(place).relative_to(r).parts for r in self._roots if Path(place).is_relative_to(r)]
        return any(not {*INSTALLED} & {*folders} for folders in parts)

    def owns_type(self, cls: type[Any]) -> bool:
        """Whether a class is of a module of the environment's own; those that SWIG makes, as Box2D's, may have none."""
        return self.owns(str(getattr(cls, "__module__", "")))

    def file(self, module: str) -> CodeFile | None:
        """A module of the environment's own, taken apart; None for any other, and where nothing can be read."""
        if module not in self._read:
            loaded = sys.modules.get(module) if self.owns(module) else None
            self._read[module] = None if loaded is None else read_file(loaded)
        return self._read[module]

    def label(self, file: CodeFile) -> str:
        """The path of a file as a reader of the project knows it."""
        place = getattr(file.module, "__file__", None)
        for root in self._roots:
            if place and Path(place).is_relative_to(root):
                inside = Path(place).relative_to(root.parent if _is_installed(root) else root)
                return inside.as_posix()
        return str(file.module.__name__)

    def find(self, module: str, name: str, deepest: int = 8) -> tuple[str, str]:
        """The module and the name under which a name of a module is defined; a whole module has no name.

        Names that are imported are followed to where they come from; empty strings where that is not known.
        """
        file = self.file(module)
        if file is None or not deepest:
            return "", ""
        if file.definitions_of("", name):
            return module, name
        if name in file.imports:
            base, inner = file.imports[name]
            if not inner:
                return base, ""
            found = self.find(base, inner, deepest - 1)
            return (
                found
                if found[0]
                else (f"{base}.{inner}", "")
                if f"{base}.{inner}" in sys.modules
                else ("", "")
            )
        found = next((hit for base in file.stars if (hit := self.find(base, name, deepest - 1))[0]), ("", ""))
        if not found[0] and self.owns(f"{module}.{name}"):
            return f"{module}.{name}", ""
        return found


def _root_of(module: Any) -> Path | None:
    """The folder whose files are of the same author: that of an installed package, or the one that holds a local one."""
    place = getattr(module, "__file__", None)
    if not place:
        return None
    file = Path(place)
    name = module.__name__.split(".")
    if name[0] in {"gymnasium", "gym"}:
        return file.parents[max(0, len(name) - 4)] if len(name) > 3 else file.parent  # noqa: PLR2004 - gymnasium.envs.KIND.module
    if _is_installed(file):
        at = max(n for n, part in enumerate(file.parts) if part in INSTALLED)
        return Path(*file.parts[: at + 2])
    folder = file.parent
    while (folder / "__init__.py").is_file() and folder != folder.parent:
        folder = folder.parent
    if "." in module.__name__ and len(file.parts) > len(name):
        outer = file.parents[len(name) - (0 if file.name == "__init__.py" else 1)]
        folder = outer if folder.is_relative_to(outer) else folder
    return folder


def _is_installed(path: Path) -> bool:
    return bool({*INSTALLED} & {*path.parts})
