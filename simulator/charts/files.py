"""The files that chart models are made of, one folder for each chart, and the list of modelled versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from physical_ai import safe_yaml
from physical_ai.catalog import operator_releases

OPERATOR = "gpu-operator"
"""Name of the GPU Operator's chart; the catalogue lists releases and value keys of this chart only."""


@dataclass(frozen=True)
class Subchart:
    """A chart that another chart contains."""

    version: str
    condition: str
    """Path of the value that turns the subchart on or off."""


@dataclass(frozen=True)
class Model:
    """A chart version that the simulator has a model of."""

    app: str
    """The chart's appVersion."""
    subcharts: Mapping[str, Subchart] = field(default_factory=dict[str, Subchart])
    read: str = ""
    """Version whose default values the model uses. It is not the modelled version if the catalogue lacks the default
    values of the modelled version.
    """


@cache
def models() -> Mapping[str, Mapping[str, Model]]:
    """Chart models by chart and version, oldest first."""
    table: dict[str, dict[str, Any]] = load("charts.yaml")
    found = {chart: {key: _model(key, key, given) for key, given in rows.items()} for chart, rows in table.items()}
    rows, given = found[OPERATOR], table[OPERATOR]
    for release in operator_releases().values():
        if release.is_unread and release.values_of in given:
            rows[release.version] = _model(release.version, release.values_of, given[release.values_of])
    return found


def _model(version: str, read: str, given: dict[str, Any]) -> Model:
    brought: dict[str, Any] = given.get("subcharts", {})
    subcharts = {name: Subchart(**own) for name, own in brought.items()}
    return Model(str(given.get("app", version)), subcharts, read)


def _data() -> Traversable:
    return resources.files("simulator.charts.data")


def files(folder: str) -> list[str]:
    """Paths of the files in a folder of the package data, sorted; empty if the folder does not exist."""
    found = _data().joinpath(folder)
    if not found.is_dir():
        return []
    return sorted(f"{folder}/{entry.name}" for entry in found.iterdir() if entry.is_file())


def text(path: str) -> str:
    return _data().joinpath(path).read_text(encoding="utf-8")


def load(path: str) -> dict[str, Any]:
    loaded: Any = safe_yaml.load(text(path))
    return loaded
