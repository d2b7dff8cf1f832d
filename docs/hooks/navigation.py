"""mkdocs hook: entries of the navigation whose page does not exist (yet) are left out."""

from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """Filter ``nav``."""
    config["nav"] = list(_existing(config["nav"], Path(config["docs_dir"])))
    return config


def _existing(items: list[dict[str, Any]], docs: Path) -> Any:
    for item in items:
        ((title, target),) = item.items()
        if isinstance(target, list):
            inner = list(_existing(target, docs))
            if inner:
                yield {title: inner}
        elif (docs / target).exists():
            yield item
