"""Run a module with other constants: `python -m promptpo_benchmarks.worth.changed '{"promptpo.core.select.MIN_EXPECTED_GAIN_SHARE": 0.01}' MODULE …`."""

from __future__ import annotations

import importlib
import json
import pkgutil
import runpy
import sys
from collections.abc import Mapping

import promptpo.core
import promptpo.features


def change(values: Mapping[str, float]) -> None:
    """Give constants of the loop and its features other values, in every module that has imported them."""
    names = [
        module.name
        for package in (promptpo.core, promptpo.features)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    modules = [importlib.import_module(name) for name in names]
    for path, value in values.items():
        module, _, name = path.rpartition(".")
        old = getattr(importlib.import_module(module), name)
        for loaded in modules:
            if vars(loaded).get(name) is old:
                setattr(loaded, name, value)


if __name__ == "__main__":
    change(json.loads(sys.argv[1]))
    del sys.argv[:2]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
