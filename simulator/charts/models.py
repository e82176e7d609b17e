"""Chart models as folders that the real helm installs: charts written here with upstream's names, values and
objects.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, cast

from physical_ai import safe_yaml
from simulator.charts.crds import definitions
from simulator.charts.files import Subchart, files, load, models, text
from simulator.charts.schema import rendered_keys, values_schema

Json = dict[str, Any]
_NOTE = "A model of the upstream chart, made by the simulator. Not the chart itself.\n"


@cache
def modelled() -> Mapping[str, tuple[str, ...]]:
    """Versions of each chart that have a model, oldest first."""
    return {chart: tuple(releases) for chart, releases in models().items()}


def materialise(chart: str, release: str, folder: Path) -> Path:
    """The folder with a chart model for the real helm. It is created under `folder` at the first call; its name
    contains a digest of its content.

    Two processes may call this function at the same time.

    Raises:
        KeyError: The chart has no model of this release.
        OSError: The folder cannot be written.
    """
    made = folder / f"{chart}-{release}-{_digest()}"
    if made.is_dir():
        return made
    contents = _contents(chart, release)
    folder.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{chart}-", dir=folder))
    for path, content in contents.items():
        target = draft / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content, encoding="utf-8")
    try:
        os.rename(draft, made)
    except OSError:
        shutil.rmtree(draft)
        if not made.is_dir():
            raise
    return made


@cache
def _digest() -> str:
    """Digest of everything that chart models are made of: data, code, and the catalogue's keys."""
    found = hashlib.sha256()
    for package in ("simulator.charts", "physical_ai.catalog"):
        root = Path(str(resources.files(package)))
        for path in sorted(root.rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                found.update(str(path.relative_to(root)).encode() + path.read_bytes())
    return found.hexdigest()[:12]


def _contents(chart: str, release: str) -> dict[str, str]:
    """Files of a chart model: path in the chart → content."""
    model = models()[chart][release]
    made: dict[str, str] = {
        "Chart.yaml": _dump(_chart(chart, release, model.app, model.subcharts)),
        "values.yaml": _dump(default_values(chart, release)),
        "values.schema.json": json.dumps(values_schema(chart, release), indent=1),
        **_templates(chart, ""),
        **_definitions(chart, release, ""),
    }
    for name, subchart in model.subcharts.items():
        folder = f"charts/{name}/"
        made[f"{folder}Chart.yaml"] = _dump(_chart(name, subchart.version, f"v{subchart.version}", {}))
        made[f"{folder}values.yaml"] = text(f"{name}/values.yaml")
        made |= _templates(name, folder) | _definitions(name, release, folder)
    return made


def _chart(name: str, version: str, app: str, subcharts: Mapping[str, Subchart]) -> Json:
    return {
        "apiVersion": "v2",
        "name": name,
        "description": _NOTE,
        "version": version,
        "appVersion": app,
        "kubeVersion": ">= 1.16.0-0",
        "dependencies": [
            {"name": sub, "version": own.version, "condition": own.condition} for sub, own in subcharts.items()
        ],
    }


def _templates(chart: str, folder: str) -> dict[str, str]:
    return {f"{folder}templates/{Path(path).name}": text(path) for path in files(f"{chart}/templates")}


def _definitions(chart: str, release: str, folder: str) -> dict[str, str]:
    return {f"{folder}crds/{crd['spec']['names']['plural']}.yaml": _dump(crd) for crd in definitions(chart, release)}


def default_values(chart: str, release: str) -> Json:
    """A release's default values, without keys that its templates never read.

    They are in `values.yaml`; for a chart whose releases differ, in `values/common.yaml` and `values/<release>.yaml`.
    """
    if files(f"{chart}/values"):
        values = _over(
            load(f"{chart}/values/common.yaml"), load(f"{chart}/values/{models()[chart][release].read}.yaml")
        )
    else:
        values = load(f"{chart}/values.yaml")
    return _known(values, frozenset(rendered_keys(chart, release)), "")


def _known(values: Json, keys: frozenset[str], prefix: str) -> Json:
    """The values without unknown keys. The content of a free map or list is kept unchanged."""
    kept: Json = {}
    for key, value in values.items():
        path = f"{prefix}{key}"
        if path in keys:
            kept[key] = value
        elif isinstance(value, dict) and (inner := _known(cast("Json", value), keys, f"{path}.")):
            kept[key] = inner
    return kept


def _over(base: Json, top: Json) -> Json:
    merged = dict(base)
    for key, value in top.items():
        held = merged.get(key)
        both = isinstance(held, dict) and isinstance(value, dict)
        merged[key] = _over(cast("Json", held), cast("Json", value)) if both else value
    return merged


def _dump(document: Any) -> str:
    return safe_yaml.dump(document)


__all__ = ["default_values", "materialise", "modelled"]
