"""The files chart models are made of."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

import yaml

CHART, FEATURES = "gpu-operator", "node-feature-discovery"
_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _data() -> Traversable:
    return resources.files("simulator.charts.data")


def files(folder: str) -> list[str]:
    """Paths of the files in a folder of the data, by name."""
    return sorted(f"{folder}/{entry.name}" for entry in _data().joinpath(folder).iterdir() if entry.is_file())


def text(path: str) -> str:
    return _data().joinpath(path).read_text(encoding="utf-8")


def load(path: str) -> dict[str, Any]:
    loaded: Any = yaml.load(text(path), Loader=_Loader)  # noqa: S506 - one of the two safe loaders
    return loaded
