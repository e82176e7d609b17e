"""Job that removes from an existing cluster, at the end of a stack, the objects that its releases leave behind."""

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
from physical_ai.catalog.images import MICROSOFT, PYTHON_IMAGE, image
from physical_ai.kubernetes.field_owners import owners
from physical_ai.kubernetes.objects import annotations_of, at, labels, name, taint_text
from physical_ai.planning import agents, manifests
from physical_ai.planning.gpu_operator import CHART as OPERATOR
from physical_ai.settings.facts.labels import is_reserved
from physical_ai.settings.facts.pools import NOT_ACCEPTED_TAINT, services_placement
from physical_ai.settings.models.tree import Settings

AGENT = "cluster_cleanup"
"""Folder in `agents/`, and Python package, of the Job's program."""
CHART = "./manifests/cluster-cleanup"
"""Path of the cleanup's chart, relative to the folder of the Pulumi program."""
RELEASE = "cluster-cleanup"
_RECORDED = (*NODE_ANNOTATIONS, "pulumi.com/*")
"""Patterns of the annotations that a stack may leave on nodes."""
_RIGHTS, _JOB = "-10", "0"
"""Weights of Helm hooks: the Job's rights are created before the Job."""


@dataclass(frozen=True)
class CleanupPlan:
    """Helm release that consists of hooks only, and its namespace."""

    namespace: Mapping[str, Any]
    values: Mapping[str, Any]
    """Chart values of the release. The component adds the value `found`, which is known only from the cluster."""


@dataclass(frozen=True)
class NodeMarks:
    """Labels, annotations and taints that the stack's node class gives to a node; taints as `key=value:Effect`."""

    node: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    taints: Sequence[str]


def cleanup_plan(settings: Settings, charts: Collection[str], nodes: Sequence[NodeMarks] = ()) -> CleanupPlan:
    """Plan of the cleanup. `charts` are the names of the charts that the stack installs."""
    namespace, account, role, binding, config, job = copy.deepcopy(manifests.load("cluster-cleanup.yaml"))
    definitions, files = definitions_of(charts), agents.package(AGENT)
    role["rules"] += [*_rights(definitions), *_rights_to_webhooks(charts)]
    config["data"] = {**agents.data(files), "wanted.json": json.dumps(_wanted(definitions, charts, nodes))}
    pod = job["spec"]["template"]["spec"]
    pod |= services_placement(settings)
    (container,) = pod["containers"]
    container["image"] = image(PYTHON_IMAGE).at(MICROSOFT)
    pod["volumes"][0]["configMap"]["items"] = agents.items(files)
    record = {"metadata": {"name": f"{RELEASE}-found", "namespace": namespace["metadata"]["name"]}}
    for each, weight in ((account, _RIGHTS), (role, _RIGHTS), (binding, _RIGHTS), (config, _RIGHTS), (record, _RIGHTS)):
        _hook(each, weight)
    _hook(job, _JOB)
    values = {"objects": [account, role, binding, config, job], "record": record["metadata"]}
    return CleanupPlan(namespace, values)


def found_before(definitions: Collection[str], nodes: Sequence[Mapping[str, Any]], manager: str) -> dict[str, Any]:
    """Value `found` of the release: the objects, labels, annotations and taints that existed before the stack. The
    cleanup leaves them alone.

    Marks (labels, annotations, taints) may already be the stack's own, if `target.leave: nothing` is set after the
    first deployment. So a mark that only the stack's field manager has written is not in the result. A mark that
    another manager has written too may have existed before, and is in the result.

    Args:
        definitions: CustomResourceDefinitions of the catalogue that the cluster has.
        nodes: nodes as the API server lists them.
        manager: field manager of the stack's NodePatches.
    """
    held, annotations, taints = dict[str, list[str]](), dict[str, list[str]](), dict[str, list[str]]()
    for node in nodes:
        # All labels that a pool may give, now or later. Labels in Kubernetes' own domains are never given.
        mine = [key for key in labels(node) if owners(node, "metadata", "labels", key) == {manager}]
        if keys := [key for key in labels(node) if key not in mine and ("/" not in key or not is_reserved(key))]:
            held[name(node)] = sorted(keys)
        mine = [key for key in annotations_of(node) if owners(node, "metadata", "annotations", key) == {manager}]
        recorded = (key for key in annotations_of(node) if any(fnmatchcase(key, each) for each in _RECORDED))
        if keys := [key for key in recorded if key not in mine]:
            annotations[name(node)] = sorted(keys)
        given: Sequence[Mapping[str, Any]] = at(node, "spec.taints", [])
        # The whole list of taints has one owner. If that is the stack, the list was empty before.
        given = [] if owners(node, "spec", "taints") == {manager} else given
        # Every node gets an entry, even without taints: a node that is missing from this record joined later, so its
        # original taints are unknown.
        taints[name(node)] = [taint_text(each) for each in given]
    return {"definitions": sorted(definitions), "labels": held, "annotations": annotations, "taints": taints}


def _wanted(definitions: Sequence[str], charts: Collection[str], nodes: Sequence[NodeMarks]) -> dict[str, Any]:
    ours = OPERATOR in charts
    return {
        "definitions": definitions,
        "remains": objects_of(charts),
        "labels": NODE_LABELS if ours else (),
        "annotations": NODE_ANNOTATIONS if ours else (),
        "operator": OPERATORS_KIND,
        "webhooks": webhooks_of(charts),
        "nodes": {
            each.node: {
                "labels": dict(each.labels),
                "annotations": dict(each.annotations),
                "taints": list(each.taints),
            }
            for each in nodes
        },
        "own_taints": [NOT_ACCEPTED_TAINT],
    }


def _rights(definitions: Sequence[str]) -> list[dict[str, Any]]:
    """Rules of the role: rights to delete these CustomResourceDefinitions, and to see whether objects of them
    exist.
    """
    known = sorted({*definitions, OPERATORS_KIND})
    place = {"apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"]}
    rules: list[dict[str, Any]] = [{**place, "verbs": ["get"], "resourceNames": known}]
    if definitions:  # a rule without resource names would cover all objects
        rules.append({**place, "verbs": ["delete"], "resourceNames": list(definitions)})
    kinds: dict[str, list[str]] = {}
    for definition in known:
        plural, _, group = definition.partition(".")
        kinds.setdefault(group, []).append(plural)
    lists = ({"apiGroups": [group], "resources": plurals, "verbs": ["list"]} for group, plurals in kinds.items())
    return [*rules, *lists]


def _rights_to_webhooks(charts: Collection[str]) -> list[dict[str, Any]]:
    """Rules of the Job's ClusterRole that permit deletion of webhook configurations, by name. The names are those that
    the releases of `charts` can leave behind.
    """
    kinds: dict[str, list[str]] = {}
    for each in (each for names in webhooks_of(charts).values() for each in names):
        plural, _, webhook = each.partition("/")
        kinds.setdefault(plural, []).append(webhook)
    place = {"apiGroups": ["admissionregistration.k8s.io"], "verbs": ["delete"]}
    return [{**place, "resources": [plural], "resourceNames": sorted(names)} for plural, names in sorted(kinds.items())]


def _hook(item: dict[str, Any], weight: str) -> None:
    item["metadata"]["annotations"] = {
        "helm.sh/hook": "post-delete",
        "helm.sh/hook-weight": weight,
        "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded",
    }
