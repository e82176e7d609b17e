"""What removes, at the end of a stack, what its releases leave in a cluster that existed before it."""

from __future__ import annotations

import copy
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from physical_ai.catalog.definitions import (
    NODE_ANNOTATIONS,
    NODE_LABELS,
    OPERATORS_KIND,
    definitions_of,
    objects_of,
    webhooks_of,
)
from physical_ai.catalog.images import MICROSOFT, image
from physical_ai.settings.facts.images import PYTHON_IMAGE
from physical_ai.settings.facts.pools import services_placement
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.plans import agents, manifests
from physical_ai.settings.plans.gpu_operator import CHART as OPERATOR

AGENT = "cluster_cleanup"
"""Folder of the program in `agents/`, and its Python package."""
CHART = "./manifests/cluster-cleanup"
"""From the folder of the program."""
RELEASE = "cluster-cleanup"
_RIGHTS, _JOB = "-10", "0"
"""Weights of hooks: what the Job needs is created before it."""


@dataclass(frozen=True)
class CleanupPlan:
    """A release of nothing but hooks, and its namespace."""

    namespace: Mapping[str, Any]
    values: Mapping[str, Any]
    """But for `found`."""


def cleanup_plan(settings: Settings, charts: Collection[str]) -> CleanupPlan:
    """`charts` are the names of those that the stack installs."""
    namespace, account, role, binding, config, job = copy.deepcopy(manifests.load("cluster-cleanup.yaml"))
    definitions, files = definitions_of(charts), agents.files(AGENT)
    role["rules"] += [*_rights(definitions), *_rights_to_webhooks(charts)]
    config["data"] = {**files, "wanted.json": json.dumps(_wanted(definitions, charts))}
    pod = job["spec"]["template"]["spec"]
    pod |= services_placement(settings)
    (container,) = pod["containers"]
    container["image"] = image(PYTHON_IMAGE).at(MICROSOFT)
    pod["volumes"][0]["configMap"]["items"] = [{"key": path, "path": path} for path in files]
    record = {"metadata": {"name": f"{RELEASE}-found", "namespace": namespace["metadata"]["name"]}}
    for each, weight in ((account, _RIGHTS), (role, _RIGHTS), (binding, _RIGHTS), (config, _RIGHTS), (record, _RIGHTS)):
        _hook(each, weight)
    _hook(job, _JOB)
    values = {"objects": [account, role, binding, config, job], "record": record["metadata"]}
    return CleanupPlan(namespace, values)


def found_before(definitions: Collection[str], nodes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the program leaves alone, since it was there before: as `values.found` of the release.

    Args:
        definitions: those of the catalogue that the cluster has.
        nodes: as the API server lists them.
    """
    labels, annotations = dict[str, list[str]](), dict[str, list[str]]()
    for node in nodes:
        metadata: Mapping[str, Any] = node["metadata"]
        for into, field, patterns in (
            (labels, "labels", NODE_LABELS),
            (annotations, "annotations", NODE_ANNOTATIONS),
        ):
            given: Mapping[str, str] = metadata.get(field) or {}
            keys = [key for key in given if any(fnmatchcase(key, each) for each in patterns)]
            if keys:
                into[metadata["name"]] = sorted(keys)
    return {"definitions": sorted(definitions), "labels": labels, "annotations": annotations}


def _wanted(definitions: Sequence[str], charts: Collection[str]) -> dict[str, Any]:
    ours = OPERATOR in charts
    return {
        "definitions": definitions,
        "remains": objects_of(charts),
        "labels": NODE_LABELS if ours else (),
        "annotations": NODE_ANNOTATIONS if ours else (),
        "operator": OPERATORS_KIND,
        "webhooks": webhooks_of(charts),
    }


def _rights(definitions: Sequence[str]) -> list[dict[str, Any]]:
    """The rights to delete these definitions, and to see whether objects of them exist."""
    known = sorted({*definitions, OPERATORS_KIND})
    place = {"apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"]}
    rules: list[dict[str, Any]] = [{**place, "verbs": ["get"], "resourceNames": known}]
    if definitions:  # without names a rule is about all of them
        rules.append({**place, "verbs": ["delete"], "resourceNames": list(definitions)})
    kinds: dict[str, list[str]] = {}
    for name in known:
        plural, _, group = name.partition(".")
        kinds.setdefault(group, []).append(plural)
    lists = ({"apiGroups": [group], "resources": plurals, "verbs": ["list"]} for group, plurals in kinds.items())
    return [*rules, *lists]


def _rights_to_webhooks(charts: Collection[str]) -> list[dict[str, Any]]:
    """The rights to delete the webhook configurations that can remain of these charts, by name."""
    kinds: dict[str, list[str]] = {}
    for each in (each for names in webhooks_of(charts).values() for each in names):
        plural, _, name = each.partition("/")
        kinds.setdefault(plural, []).append(name)
    place = {"apiGroups": ["admissionregistration.k8s.io"], "verbs": ["delete"]}
    return [{**place, "resources": [plural], "resourceNames": sorted(names)} for plural, names in sorted(kinds.items())]


def _hook(item: dict[str, Any], weight: str) -> None:
    item["metadata"]["annotations"] = {
        "helm.sh/hook": "post-delete",
        "helm.sh/hook-weight": weight,
        "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded",
    }
