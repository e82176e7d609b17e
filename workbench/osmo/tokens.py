"""Tokens of pod templates (USER_…, WF_…), and the rendering of templates with them."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from workbench.osmo import units
from workbench.osmo.jinja import render
from workbench.osmo.merge import merge_into
from workbench.osmo.refusal import Refusal, crash

_ARRAY = re.compile(r"ARRAY:\[(.*)\]")
_DEFAULT_CACHE = 0.9
"""Default size of a task's cache, as a fraction (0 to 1) of the task's storage."""


def default_variables(pool: Mapping[str, Any], platform: Mapping[str, Any]) -> dict[str, Any]:
    """Default variables of the pool, overridden by default variables of the platform."""
    return merge_into(copy.deepcopy(dict(pool)), copy.deepcopy(dict(platform)))


def resource_tokens(
    resources: Mapping[str, Any], variables: Mapping[str, Any], cache_size: str | None = None
) -> dict[str, Any]:
    """Tokens for a task's resources (`schema.ResourceSpec`). `variables` has default values for resources that the task
    does not request.

    Tokens derived from memory and storage (in other units, or for the cache) use only the workflow's own values, never
    a variable. Raises Refusal for an invalid cache size.
    """
    cpu, gpu = resources.get("cpu"), resources.get("gpu")
    storage, memory = resources.get("storage"), resources.get("memory")
    own: dict[str, Any] = {
        "USER_CPU": float(cpu) if cpu else None,
        "USER_GPU": int(gpu) if gpu else None,
        "USER_STORAGE": storage,
        "USER_MEMORY": memory,
        **_in_units("USER_STORAGE", storage),
        **_in_units("USER_MEMORY", memory),
        "USER_EXCLUDED_NODES": f"ARRAY:[{','.join(resources.get('nodesExcluded') or ())}]",
    }
    tokens = copy.deepcopy(dict(variables))
    tokens |= {name: value for name, value in own.items() if value is not None or name not in tokens}
    return {**tokens, "USER_CACHE": _cache(storage, cache_size)}


def _in_units(name: str, text: str | None) -> dict[str, Any]:
    amount = units.split_amount(text) if text else None
    number, unit = (amount[0], amount[1] or "B") if amount else (None, None)
    derived: dict[str, Any] = {f"{name}_VAL": number, f"{name}_UNIT": unit}
    for target in units.TOKEN_UNITS:
        derived[f"{name}_{target}"] = units.convert(f"{number}{unit}", target) if amount else None
    return derived


def _cache(storage: str | None, size: str | None) -> str:
    amount = units.split_amount(storage) if storage else None
    number, unit = (float(amount[0]), amount[1] or "B") if amount else (0.0, None)
    if not size:
        return f"{math.floor(number * _DEFAULT_CACHE)}{unit or 'MiB'}"
    if not size.endswith("%"):
        return units.stored_amount(size, "cacheSize")
    try:
        percent = math.floor(float(size[:-1]))
    except (ValueError, OverflowError):
        raise Refusal("OSMOResourceError", f"cacheSize: '{size}' is not a percentage such as 50%") from None
    if not 0 <= percent <= 100:
        raise Refusal("OSMOResourceError", f"cacheSize: '{size}' is not between 0% and 100%")
    # Without a storage amount, OSMO writes the text None in place of the unit.
    return f"{math.floor(number * (percent / 100))}{unit}"


def label_tokens(labels: Mapping[str, str]) -> dict[str, str]:
    """WF_… tokens for OSMO's labels: WF_ID for osmo.workflow_id, WF_GROUP_NAME for osmo.group_name.

    >>> label_tokens({"osmo.workflow_id": "train-1", "osmo.pool": "default", "team": "x"})
    {'WF_ID': 'train-1', 'WF_POOL': 'default'}
    """
    names = {key: key.removeprefix("osmo.").upper() for key in labels if key.startswith("osmo.")}
    return {f"WF_{name.removeprefix('WORKFLOW_')}": labels[key] for key, name in names.items()}


def substitute(template: Mapping[str, Any], tokens: Mapping[str, Any]) -> dict[str, Any]:
    """The template with every value rendered; keys are not rendered. A text `ARRAY:[a,b]` becomes a list.

    Raises Refusal for an undefined token, and for a list that holds numbers, booleans or null.
    """
    return {key: _substituted(value, tokens) for key, value in template.items()}


def _substituted(value: Any, tokens: Mapping[str, Any]) -> Any:
    if isinstance(value, Mapping):
        return substitute(cast("Mapping[str, Any]", value), tokens)
    if isinstance(value, str):
        return _text(value, tokens)
    if isinstance(value, list):
        return [_item(item, tokens) for item in cast("Sequence[Any]", value)]
    return value


def _item(item: Any, tokens: Mapping[str, Any]) -> Any:
    if isinstance(item, Mapping):
        return substitute(cast("Mapping[str, Any]", item), tokens)
    if isinstance(item, str):
        return _text(item, tokens)
    raise crash(f"a list holds {item!r}, which is not text: write it in quotes")


def _text(text: str, tokens: Mapping[str, Any]) -> str | list[str]:
    rendered = render(text, tokens)
    array = _ARRAY.fullmatch(rendered)
    return array[1].split(",") if array else rendered


def group_objects(
    templates: Sequence[Mapping[str, Any]], tokens: Mapping[str, Any], labels: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Objects from a group's templates, with tokens rendered and without a namespace.

    OSMO's labels override labels in the templates.
    """
    objects: list[dict[str, Any]] = []
    for template in templates:
        own = copy.deepcopy(dict(template))
        own.get("metadata", {}).pop("namespace", None)
        rendered = substitute(own, tokens)
        rendered.setdefault("metadata", {}).setdefault("labels", {}).update(labels)
        objects.append(rendered)
    return objects
