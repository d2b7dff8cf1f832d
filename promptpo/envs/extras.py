"""Optional packages with environments, and how to install them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Extra:
    """An optional package with environments.

    Attributes:
        name: The extra of promptpo that installs it.
        package: Its display name.
        module: The module whose import registers its ids.
        ids: Pattern of the ids that it registers.
    """

    name: str
    package: str
    module: str
    ids: re.Pattern[str]


PACKAGES = (
    Extra("metaworld", "Meta-World", "metaworld", re.compile(r"(metaworld:)?Meta-World/|[a-z0-9-]+-v3$")),
    Extra("minigrid", "MiniGrid", "minigrid", re.compile(r"(MiniGrid|BabyAI)-")),
    Extra(
        "robotics",
        "gymnasium-robotics",
        "gymnasium_robotics",
        re.compile(r"(Fetch|HandReach|HandManipulate|PointMaze|AntMaze|Adroit|FrankaKitchen)"),
    ),
    Extra(
        "highway",
        "highway-env",
        "highway_env",
        re.compile(
            r"(highway|merge|roundabout|intersection|racetrack|parking|two-way|u-turn|exit|lane-keeping)-"
        ),
    ),
)
"""Packages that must be imported before Gymnasium knows their environments."""


def of_meta_world(env_id: str) -> bool:
    """Return whether an id looks like one of Meta-World's."""
    return PACKAGES[0].ids.match(env_id) is not None


def extra_for(env_id: str) -> Extra | None:
    """Return the package whose pattern matches an id; None if there is none."""
    return next((extra for extra in PACKAGES if extra.ids.match(env_id)), None)


def find_versions(packages: Iterable[str]) -> dict[str, str]:
    """Return the versions of the installed packages among these."""
    return {package: version for package in packages if (version := _version(package)) is not None}


@cache
def _version(package: str) -> str | None:
    """Return a package's version; cached, since a version installed later is not the loaded one."""
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
