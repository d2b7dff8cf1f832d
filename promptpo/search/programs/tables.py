"""Table keys: a small discrete observation as an int or a flat tuple of ints."""

from __future__ import annotations

from typing import Any

from gymnasium import spaces

from promptpo.search.programs.features import subspaces


def key_function(space: spaces.Space[Any]) -> str:
    """Source of ``key(obs)``, which agrees with `promptpo.search.tuning.tabular.key_of`."""
    if isinstance(space, spaces.Discrete):
        expression = "int(obs)"
    else:
        expression = f"({''.join(f'{term}, ' for term in _terms(space, 'obs')).strip()})"
    return f'def key(obs):\n    """The observation as a table key."""\n    return {expression}'


def _terms(space: Any, path: str) -> list[str]:
    if isinstance(space, spaces.Discrete):
        return [f"int({path})"]
    if isinstance(space, spaces.MultiDiscrete | spaces.MultiBinary):
        return [f"*(int(v) for v in np.ravel({path}))"]
    keys = [repr(k) for k in space.spaces] if isinstance(space, spaces.Dict) else range(len(space.spaces))
    return [
        term for k, sub in zip(keys, subspaces(space), strict=True) for term in _terms(sub, f"{path}[{k}]")
    ]
