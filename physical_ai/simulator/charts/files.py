"""The files chart models are made of: one folder a chart, and what there is of which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

import yaml

_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Subchart:
    """A chart that another one contains."""

    version: str
    condition: str
    """Path of the value that switches it."""


@dataclass(frozen=True)
class Model:
    """One version of a chart that there is a model of."""

    app: str
    """The chart's appVersion."""
    subcharts: Mapping[str, Subchart] = field(default_factory=dict[str, Subchart])


@cache
def models() -> Mapping[str, Mapping[str, Model]]:
    """What is modelled, by chart and version, oldest first."""
    return {chart: {str(key): _model(str(key), given) for key, given in rows.items()} for chart, rows in _table()}


def _table() -> list[tuple[str, dict[str, Any]]]:
    return list(load("charts.yaml").items())


def _model(version: str, given: dict[str, Any]) -> Model:
    brought: dict[str, Any] = given.get("subcharts", {})
    return Model(str(given.get("app", version)), {name: Subchart(**own) for name, own in brought.items()})


def _data() -> Traversable:
    return resources.files("physical_ai.simulator.charts.data")


def files(folder: str) -> list[str]:
    """Paths of the files in a folder of the data, by name; none if the folder does not exist."""
    found = _data().joinpath(folder)
    if not found.is_dir():
        return []
    return sorted(f"{folder}/{entry.name}" for entry in found.iterdir() if entry.is_file())


def text(path: str) -> str:
    return _data().joinpath(path).read_text(encoding="utf-8")


def load(path: str) -> dict[str, Any]:
    loaded: Any = yaml.load(text(path), Loader=_Loader)  # noqa: S506 - one of the two safe loaders
    return loaded
