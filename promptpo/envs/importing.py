"""Importing what the user names, and what registers environments."""

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
from promptpo.envs.foreign import (
    without_notices,
)
from promptpo.envs.task import label_of, relative_name
from promptpo.errors import (
    MissingExtraError,
    UsageError,
)
from promptpo.files import read_regular

if TYPE_CHECKING:
    from types import ModuleType


ENTRY_POINTS = "promptpo.environments"
"""Where installed packages say which module registers a namespace of ids, as "NAMESPACE" or "NAMESPACE.anything"."""


def import_registering(name: str) -> None:
    """Import the package that registers an id, by the id's look, or else all of these that are installed."""
    extra = extra_for(name)
    if extra is not None:
        import_package(extra, name)
    for installed in PACKAGES if extra is None else ():
        if importlib.util.find_spec(installed.module):
            import_quietly(installed.module, name)


def import_advertised(name: str) -> None:
    """Import what installed packages say registers the ids of a namespace, such as "promptpo" of "promptpo/Chain-v0"."""
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
    """Import what the user names, a module or a file; this is the one place that does.

    Args:
        module: Its name or path.
        asked: What it is imported for.
        files: See `Task.files`.

    Raises:
        UsageError: There is none, or importing it raised.
    """
    try:
        without_notices()
        with contextlib.redirect_stdout(foreign_output()):
            if module.endswith(".py"):
                return _import_file(Path(module), files)
            _search_in(Path.cwd(), files)
            return importlib.import_module(module)
    except UsageError:  # it is not trusted
        raise
    except (Exception, SystemExit) as fault:  # the user's own module: anything can come out of it
        why = f"importing {module} {first_line_of(fault)}."
        if module.endswith(".py"):
            if not Path(module).is_file():
                file = relative_name(f"{module}:")[:-1]
                why = f"there is no file {file}; correct the path, or name the environment with --env where the command takes that."
        elif os.sep in module or (
            isinstance(fault, ModuleNotFoundError) and fault.name == module.partition(".")[0]
        ):
            why = f"there is no module {module!r} on the path or in {Path.cwd()}; to name a file, include its ending: {module}.py"
        raise UsageError(f"{label_of(asked)}: {why}") from fault


@dataclass(frozen=True)
class _CheckedFolder:
    """Finds modules in a folder, after all that is installed, and lets none be imported whose text was not seen before.

    Attributes:
        folder: Where they are.
        files: See `Task.files`.
    """

    folder: str
    files: Sequence[str]
    _packages: set[str] = field(default_factory=lambda: {""}, compare=False)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: Any = None
    ) -> ModuleSpec | None:
        """See `importlib.abc.MetaPathFinder`; of packages, those that were found here."""
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
    """Loads the text of a module if it was seen before, and never its bytecode, which could be of another text."""

    def __init__(self, name: str, path: str, files: Sequence[str]) -> None:
        super().__init__(name, path)
        self._files = files

    def get_code(self, fullname: str) -> Any:  # noqa: ARG002
        """See `importlib.abc.InspectLoader`.

        Raises:
            UsageError: It was not.
        """
        text = read_regular(Path(self.path), links=True)
        if not {self.path, hashlib.sha256(text).hexdigest()} & {*self._files}:
            raise UsageError(
                f"{relative_name(f'{self.path}:')[:-1]} is not what was signed, and importing it runs it. If you trust "
                "it, add --trust (trust=True from Python); or name the environment yourself with --env ENV_ID."
            )
        return self.source_to_code(text, self.path)


_added: list[str] = []
"""Folders that are in ``sys.path`` for the sake of what a user named."""


def find_imported_files(named: Sequence[str]) -> Iterator[str]:
    """Python files of modules that were imported from folders which Python does not search by itself.

    Args:
        named: Modules that are meant even if they lie in the working directory and Python searches that.
    """
    for name, module in [*sys.modules.items()]:
        file = getattr(module, "__file__", None) or ""
        holding = [entry for entry in sys.path if entry and file.startswith(f"{entry}{os.sep}")]
        meant = [*_added, *[str(Path.cwd())] * (name in named)]
        if file.endswith(".py") and holding and max(holding, key=len) in meant:
            yield file


def _search_in(folder: Path, files: Sequence[str] | None) -> None:
    """Let modules be imported from a folder: last, so that nothing in it can shadow an installed package."""
    if str(folder) in sys.path:
        return
    if files is None:
        sys.path.append(str(folder))
        _added.append(str(folder))
    elif (checked := _CheckedFolder(str(folder), files)) not in sys.meta_path:
        sys.meta_path.insert(0, checked)


def _import_file(path: Path, files: Sequence[str] | None) -> ModuleType:
    """The module in a file, once in a process; it may import what lies beside it.

    A file in a package is imported as part of it. Any other, and one whose package cannot be imported or is hidden by
    another of its name, has a name that no other module has.
    """
    path = path.resolve(strict=True)
    root = next(folder for folder in path.parents if not (folder / "__init__.py").is_file())
    if root != path.parent:
        _search_in(root, files)
        try:
            module = importlib.import_module(".".join(path.relative_to(root).with_suffix("").parts))
            if module.__file__ is not None and Path(module.__file__).resolve() == path:
                return module
        except UsageError:
            raise
        except Exception:  # noqa: BLE001, S110 - the package's own fault, which its file alone may not have
            pass
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
            raise
    return sys.modules[name]


def import_quietly(module: str, name: str) -> None:
    """Import a package; what it prints then is for the user only where it speaks of this environment."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        importlib.import_module(module)
    if name in said.getvalue():
        sys.stderr.write(said.getvalue())


def import_package(extra: Extra, env_id: str) -> None:
    """Import the package of an extra, which an id needs."""
    try:
        import_quietly(extra.module, env_id.rpartition(":")[2])
    except ImportError as fault:
        raise MissingExtraError(
            f'{env_id} needs {extra.package}, which is not installed: pip install "promptpo[{extra.name}]"'
        ) from fault
