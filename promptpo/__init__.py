"""promptpo: a large language model writes the policy for a reinforcement-learning environment.

```python
import promptpo

run = promptpo.optimize("CartPole-v1", model="anthropic:claude-sonnet-4-5", rounds=5)
print(run.mean_return, run.policy_path)
```
"""

from typing import TYPE_CHECKING, Any

from promptpo.version import __version__

if TYPE_CHECKING:
    from promptpo.api import optimize, optimize_async, resume
    from promptpo.multi_seed import optimize_seeds
    from promptpo.output.comparing import baseline, compare, list_runs
    from promptpo.output.evaluating import evaluate
    from promptpo.output.observer import Observer
    from promptpo.output.policy import load_policy
    from promptpo.output.report.page import write_report
    from promptpo.output.run_result import RunResult, export, load_run

__all__ = [
    "Observer",
    "RunResult",
    "__version__",
    "baseline",
    "compare",
    "evaluate",
    "export",
    "list_runs",
    "load_policy",
    "load_run",
    "optimize",
    "optimize_async",
    "optimize_seeds",
    "resume",
    "write_report",
]

_HOMES = {
    "baseline": "promptpo.output.comparing",
    "compare": "promptpo.output.comparing",
    "list_runs": "promptpo.output.comparing",
    "evaluate": "promptpo.output.evaluating",
    "Observer": "promptpo.output.observer",
    "export": "promptpo.output.run_result",
    "RunResult": "promptpo.output.run_result",
    "load_policy": "promptpo.output.policy",
    "load_run": "promptpo.output.run_result",
    "optimize_seeds": "promptpo.multi_seed",
    "write_report": "promptpo.output.report.page",
}


def __getattr__(name: str) -> Any:
    """Load the public names on first use, so that ``promptpo --help`` stays quick."""
    if name not in __all__:
        raise AttributeError(f"module 'promptpo' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES.get(name, "promptpo.api")), name)
