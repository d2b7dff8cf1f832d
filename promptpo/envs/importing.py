"""Importing what the user names, and what registers environments."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import os
import sys
import zlib
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from promptpo.last_words import foreign_output

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


def import_users_module(module: str, asked: str) -> ModuleType:
    """Import what the user names, a module or a file; this is the one place that does.

    Raises:
        UsageError: There is none, or importing it raised.
    """
    try:
        without_notices()
        with contextlib.redirect_stdout(foreign_output()):
            if module.endswith(".py"):
                return _import_file(Path(module))
            here = str(Path.cwd())
            if here not in sys.path:
                sys.path.append(here)  # last, so that nothing in it can shadow an installed package
            return importlib.import_module(module)
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


def _import_file(path: Path) -> ModuleType:
    """The module in a file, once in a process; it may import what lies beside it.

    A file in a package is imported as part of it. Any other, and one whose package cannot be imported or is hidden by
    another of its name, has a name that no other module has.
    """
    path = path.resolve(strict=True)
    root = next(folder for folder in path.parents if not (folder / "__init__.py").is_file())
    if root != path.parent:
        if str(root) not in sys.path:
            sys.path.append(str(root))
        with contextlib.suppress(Exception):  # the package's own fault, which its file alone may not have
            module = importlib.import_module(".".join(path.relative_to(root).with_suffix("").parts))
            if module.__file__ is not None and Path(module.__file__).resolve() == path:
                return module
    name = f"{path.stem}_{zlib.crc32(str(path).encode()):x}"
    if name not in sys.modules:
        if str(path.parent) not in sys.path:
            sys.path.append(str(path.parent))
        spec: Any = importlib.util.spec_from_file_location(name, path)
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
