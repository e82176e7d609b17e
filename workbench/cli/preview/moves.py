"""Summary of a change of the network mode in a preview: the resources that are replaced, changed in place, created and
deleted.

A change of the network mode affects more than a hundred resources. Most of them are replaced only because their cluster
is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from workbench.cli.changes import Step

PRIVATE = "apiServerAccessProfile.enablePrivateCluster"
PUBLIC_ACCESS = ("publicNetworkAccess", "publicNetworkAccessForIngestion", "publicNetworkAccessForQuery")
"""Last part of the path of each Azure property that allows access to a service from the internet. A service without the
property allows the access.
"""
INSIDE = "kubernetes:"
COUNTED = ("Release", "Namespace")
"""Kinds of objects in the cluster that the summary counts separately."""


@dataclass(frozen=True)
class NetworkMove:
    """Summary of a change of the network mode, in parts. A part is empty if there is nothing to say.

    Attributes:
        title: Description, such as `The API server becomes private.`
        replaced: Texts about replaced resources: the cluster with everything in it, and others.
        in_place: Texts about resources that change without losing their content.
        created: Texts with the number of created resources of each kind.
        deleted: Texts with the number of deleted resources of each kind.
    """

    title: str
    replaced: tuple[str, ...]
    in_place: tuple[str, ...]
    created: tuple[str, ...]
    deleted: tuple[str, ...]

    def rows(self) -> list[tuple[str, Sequence[str]]]:
        """The parts of the summary that are not empty, each with its title."""
        parts = ("replaced", self.replaced), ("in place", self.in_place)
        return [each for each in (*parts, ("created", self.created), ("deleted", self.deleted)) if each[1]]

    def document(self) -> dict[str, Any]:
        parts = {"replaced": self.replaced, "inPlace": self.in_place, "created": self.created, "deleted": self.deleted}
        return {"title": self.title, **{name: list(found) for name, found in parts.items()}}


def network_move(steps: Sequence[Step], lost: int) -> NetworkMove | None:
    """The change of the network mode in these steps of a preview; None if there is none.

    Args:
        steps: Steps of the preview; a replacement is one step.
        lost: Number of nodes that are deleted.
    """
    cluster = next((each for each in steps if each.kind == "ManagedCluster" and each.op == "replace"), None)
    flips = cluster is not None and _is_private(cluster.old) != _is_private(cluster.new)
    opened, closed = _changed_access(steps, False), _changed_access(steps, True)
    if not flips and not opened and not closed:
        return None
    return NetworkMove(
        _title(cluster if flips else None, bool(opened), bool(closed)),
        tuple(_replaced(steps, cluster, lost)),
        tuple(_in_place(steps, opened, closed)),
        _kinds(each for each in steps if each.op == "create" and not _goes_along(each, cluster)),
        _kinds(each for each in steps if each.op == "delete" and not _goes_along(each, cluster)),
    )


def _title(cluster: Step | None, opened: bool, closed: bool) -> str:
    parts: list[str] = []
    if cluster is not None:
        parts.append(f"The API server becomes {'private' if _is_private(cluster.new) else 'public'}.")
    if closed:
        parts.append("Services of Azure are closed to the internet.")
    if opened:
        parts.append("Services of Azure are opened to the internet.")
    return " ".join(parts)


def _replaced(steps: Sequence[Step], cluster: Step | None, lost: int) -> Iterable[str]:
    replaced = [each for each in steps if each.op == "replace" and each is not cluster]
    if cluster is not None:
        pools = sum(each.kind == "AgentPool" for each in replaced)
        inside = Counter(each.kind for each in steps if _goes_along(each, cluster) and each.kind != "AgentPool")
        named = {kind: inside.pop(kind, 0) for kind in COUNTED}
        counts = [_count(pools, "separate node pool"), *(_count(named[kind], kind.lower()) for kind in COUNTED)]
        counts.append(_count(inside.total(), "other object"))
        what = ", ".join(each for each in counts if each)
        yield f"the cluster {cluster.name} with everything in it{f': {what}' if what else ''}"
        if lost:
            yield f"{_count(lost, 'node')} lost; capacity may not be available at once"
        yield "running workflows end with it; releases, namespaces and objects are created again in the new cluster"
    others = [each for each in replaced if not _goes_along(each, cluster)]
    if others:
        where = "with it" if cluster is not None else "on their own"
        yield f"in Azure, {where}: {', '.join(_kinds(others))}"


def _in_place(steps: Sequence[Step], opened: Sequence[Step], closed: Sequence[Step]) -> Iterable[str]:
    for found, how in ((closed, "closed to the internet"), (opened, "opened to the internet")):
        kept = [each for each in found if each.op == "update"]
        if kept:
            yield f"{how}, with their data kept: {', '.join(_kinds(kept))}"
    listed = [*opened, *closed]
    others = [each for each in steps if each.op == "update" and not any(each is one for one in listed)]
    if others:
        yield f"updated: {', '.join(_kinds(others))}"


def _goes_along(step: Step, cluster: Step | None) -> bool:
    """True for a resource inside the cluster, or a node pool, if the cluster itself is replaced: its replacement is
    then only a consequence.
    """
    return cluster is not None and (step.type.startswith(INSIDE) or step.kind == "AgentPool")


def _changed_access(steps: Sequence[Step], closing: bool) -> list[Step]:
    """Updated or replaced resources whose public access changes: those that lose it if `closing` is true, else those
    that gain it.
    """
    found: list[Step] = []
    for step in steps:
        paths = [each for each in step.properties if each.rpartition(".")[2] in PUBLIC_ACCESS]
        if step.op in ("update", "replace") and any(
            _is_closed(step.old, path) is not closing and _is_closed(step.new, path) is closing for path in paths
        ):
            found.append(step)
    return found


def _is_closed(inputs: Mapping[str, Any], path: str) -> bool:
    return _at(inputs, path) == "Disabled"


def _is_private(inputs: Mapping[str, Any]) -> bool:
    return _at(inputs, PRIVATE) is True


def _at(inputs: Mapping[str, Any], path: str) -> Any:
    value: Any = inputs
    for part in path.split("."):
        value = cast("Mapping[str, Any]", value).get(part) if isinstance(value, Mapping) else None
    return value


def _kinds(steps: Iterable[Step]) -> tuple[str, ...]:
    """Texts with the number of resources of each kind, such as `2 PrivateZone`, the most frequent kind first. A kind
    with one resource has no number.
    """
    counts = Counter(each.kind for each in steps)
    ordered = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return tuple(f"{count} {kind}" if count > 1 else kind for kind, count in ordered)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}" if number else ""
