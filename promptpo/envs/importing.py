"""Import modules that the user names, and packages that register environments."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import io
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.crash_report import foreign_output
from promptpo.envs.contract import first_line, first_line_of
from promptpo.envs.extras import PACKAGES, Extra, extra_for
from promptpo.envs.foreign import without_notices
from promptpo.envs.task import label_of, relative_name
from promptpo.errors import MissingExtraError, UsageError
from promptpo.files import read_regular

if TYPE_CHECKING:
    from types import ModuleType


ENTRY_POINTS = "promptpo.environments"
"""Entry-point group in which installed packages name the module that registers a namespace of ids.

The name of an entry is "NAMESPACE" or "NAMESPACE.anything"."""


def import_registering(name: str) -> None:
    """Import the package that an id's pattern points to, or else all installed packages with environments."""
    extra = extra_for(name)
    if extra is not None:
        import_package(extra, name)
    for installed in PACKAGES if extra is None else ():
        if importlib.util.find_spec(installed.module):
            import_quietly(installed.module, name)


def import_advertised(name: str) -> None:
    """Import the modules whose entry points name the id's namespace, such as "promptpo" in "promptpo/Chain-v0"."""
    namespace, slash, _ = name.partition("/")
    for entry in entry_points(group=ENTRY_POINTS) if slash else ():
        if entry.name.partition(".")[0] == namespace:
            try:
                import_quietly(entry.value, name)
            except ImportError as fault:
                raise MissingExtraError(
                    f"{name} needs a package that is not installed: {first_line(fault)}."
                ) from fault


def import_users_module(module: str, asked: str, files: Sequence[str] | None = None) -> ModuleType:
    """Import a module or file that the user names; nothing else in promptpo does so.

    Args:
        module: Its name or path.
        asked: The name that it is imported for, for error messages.
        files: See `Task.files`.

    Raises:
        UsageError: It does not exist, is not trusted, or importing it raised.
    """
    try:
        without_notices()
        with contextlib.redirect_stdout(foreign_output()):
            if module.endswith(".py"):
                return _import_file(Path(module), files)
            _search_in(Path.cwd(), files)
            return importlib.import_module(module)
    except UsageError:  # not trusted
        raise
    except (Exception, SystemExit) as fault:  # the user's module may raise anything
        why = f"importing {module} {first_line_of(fault)}."
        if module.endswith(".py"):
            if not Path(module).is_file():
                file = relative_name(f"{module}:")[:-1]
                why = f"there is no file {file}; correct the path, or name the environment with --env where the command takes that."
        elif Path(module).is_file():
            why = f"{module} is not a Python file; put the environment into one, or pass it to promptpo.optimize in Python."
        elif os.sep in module or (
            isinstance(fault, ModuleNotFoundError) and fault.name == module.partition(".")[0]
        ):
            why = f"there is no module {module!r} on the path or in {Path.cwd()}; to name a file, include its ending: {module}.py"
        raise UsageError(f"{label_of(asked)}: {why}") from fault


@dataclass(frozen=True)
class _CheckedFolder:
    """Finder for modules in a folder, after all installed ones; it imports only known files.

    Attributes:
        folder: The folder.
        files: See `Task.files`.
    """

    folder: str
    files: Sequence[str]
    _packages: set[str] = field(default_factory=lambda: {""}, compare=False)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: Any = None
    ) -> ModuleSpec | None:
        """See `importlib.abc.MetaPathFinder`; submodules are found only in packages that this finder found."""
        parent = name.rpartition(".")[0]
        others = (each for each in sys.meta_path if not (parent or isinstance(each, _CheckedFolder)))
        if parent not in self._packages or any(each.find_spec(name, path, target) for each in others):
            return None
        spec = PathFinder.find_spec(name, path or [self.folder])
        if spec is not None:
            self._packages.add(name)
            spec.loader = _CheckedLoader(name, spec.origin, self.files) if spec.origin else spec.loader
        return spec


class _CheckedLoader(SourceFileLoader):
    """Loader for the source of known files; it ignores bytecode, which could be of another source."""

    def __init__(self, name: str, path: str, files: Sequence[str]) -> None:
        super().__init__(name, path)
        self._files = files

    def get_code(self, fullname: str) -> Any:  # noqa: ARG002
        """See `importlib.abc.InspectLoader`.

        Raises:
            UsageError: The file is not among the known ones.
        """
        text = read_regular(Path(self.path), links=True)
        if not {self.path, hashlib.sha256(text).hexdigest()} & {*self._files}:
            raise UsageError(
                f"{relative_name(f'{self.path}:')[:-1]} differs from the signed file, and importing it runs it. If you trust "
                "it, add --trust (trust=True from Python); or name the environment yourself with --env ENV_ID."
            )
        return self.source_to_code(text, self.path)


_added: list[str] = []
"""Folders added to ``sys.path`` for modules that the user named."""


def find_imported_files(named: Sequence[str]) -> Iterator[str]:
    """Yield the files of modules imported from folders that Python does not search by default.

    Args:
        named: Modules that count even if they are in the working directory and Python searches it.
    """
    for name, module in [*sys.modules.items()]:
        file = str(getattr(module, "__file__", ""))
        meant = (*_added, str(Path.cwd())) if name in named else tuple(_added)
        holding = (
            entry for entry in sys.path if file.startswith(entry + os.sep)
        )  # read for few of thousands
        if file.endswith(".py") and file.startswith(meant) and max(holding, key=len, default="") in meant:
            yield file


def _search_in(folder: Path, files: Sequence[str] | None) -> None:
    """Make a folder importable, last in order so that nothing in it shadows an installed package."""
    if str(folder) in sys.path:
        return
    if files is None:
        sys.path.append(str(folder))
        _added.append(str(folder))
    elif (checked := _CheckedFolder(str(folder), files)) not in sys.meta_path:
        sys.meta_path.insert(0, checked)


def _import_file(path: Path, files: Sequence[str] | None) -> ModuleType:
    """Import a file once per process and return its module; it may import modules beside it.

    A file in a package is imported as part of it. Other files, and those whose package cannot be imported or is
    shadowed by another, get a unique module name.
    """
    path, broken = path.resolve(strict=True), None
    root = next(folder for folder in path.parents if not (folder / "__init__.py").is_file())
    if root != path.parent:
        _search_in(root, files)
        try:
            module = importlib.import_module(".".join(path.relative_to(root).with_suffix("").parts))
            if module.__file__ is not None and Path(module.__file__).resolve() == path:
                return module
        except UsageError:
            raise
        except Exception as fault:  # noqa: BLE001 - the package is at fault; its file alone may work
            broken = fault
    name = f"{path.stem}_{zlib.crc32(str(path).encode()):x}"
    if name not in sys.modules:
        _search_in(path.parent, files)
        loader = None if files is None else _CheckedLoader(name, str(path), files)
        spec: Any = importlib.util.spec_from_file_location(name, path, loader=loader)
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            if broken is not None:
                raise broken from None
            raise
    return sys.modules[name]


def import_quietly(module: str, name: str) -> None:
    """Import a package; show its output only if it mentions this environment."""
    output = io.StringIO()
    with contextlib.redirect_stderr(output), contextlib.redirect_stdout(output):
        importlib.import_module(module)
    if name in output.getvalue():
        sys.stderr.write(output.getvalue())


def import_package(extra: Extra, env_id: str) -> None:
    """Import the package of an extra that an id needs.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        import_quietly(extra.module, env_id.rpartition(":")[2])
    except ImportError as fault:
        raise MissingExtraError(
            f'{env_id} needs {extra.package}, which is not installed: pip install "promptpo[{extra.name}]"'
        ) from fault
