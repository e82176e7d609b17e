"""Requests of a move: the settings that the new pool has instead of the old pool's, and the new pool's name."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from physical_ai.catalog import nearest
from physical_ai.nested import is_mapping
from physical_ai.settings import Overlay, Pool

NODE_IMAGE = "nodeImage"
"""Key in a request for new nodes with the newest node image. The settings have no such key: AKS gives each new node
pool the newest image.
"""
NEWEST = "newest"
MOST_LETTERS = 12
"""Longest name of a Linux node pool (AKS docs, naming rules of node pools)."""
NAME = re.compile(r"[a-z][a-z0-9]{0,11}")
IN_PLACE = ("fallbacks", "labels", "nodeSelector", "replaces", "scale", "taints", "tolerate", "upgrade", "usualLoad")
"""Settings of a pool whose change keeps its nodes and their Pods."""
OTHER_NAMES = {
    "vmSize": "sku",
    "size": "sku",
    "osDiskSizeGb": "osDisk.sizeGb",
    "osDiskType": "osDisk.type",
    "driverSource": "driver.source",
    "driverVersion": "driver.version",
    "availabilityZones": "zones",
}
"""Names by which Azure and other tools call settings, and the names in this project's stack files."""
SUFFIXES = "bcdefghijklmnopqrstuvwxyz"


class Refused(Exception):
    """Error for a move that cannot be made. Each problem says what is wrong, and what to write or do."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def requested(assignments: Sequence[str]) -> dict[str, str]:
    """The settings of the new pool that a command line names, as texts by the paths below the pool.

    >>> requested(["sku=Standard_NC80adis_H100_v5", "osDisk.sizeGb=1024"])
    {'sku': 'Standard_NC80adis_H100_v5', 'osDisk.sizeGb': '1024'}

    Raises:
        Refused: an assignment is incomplete, or names a setting that needs no move.
    """
    found: dict[str, str] = {}
    problems: list[str] = []
    for text in assignments:
        path, equals, value = text.partition("=")
        path = path.strip()
        if not (path and equals and value.strip()):
            problems.append(
                f"--to {text}: write a setting of the pool and its value, like sku=Standard_NC80adis_H100_v5"
            )
        elif path in OTHER_NAMES:
            problems.append(
                f"--to {text}: in stack files this setting is {OTHER_NAMES[path]}; write {OTHER_NAMES[path]}={value}"
            )
        elif path.partition(".")[0] in IN_PLACE:
            problems.append(
                f"--to {text}: a change of {path} keeps the nodes and their Pods; write it into the stack file"
            )
        elif path == NODE_IMAGE and value.strip() != NEWEST:
            problems.append(f"--to {text}: new nodes get the newest image; write {NODE_IMAGE}={NEWEST}")
        else:
            problems += _unknown(text, path)
            found[path] = value.strip()
    if problems:
        raise Refused(*problems)
    return found


def _unknown(text: str, path: str) -> list[str]:
    """A problem if a pool has no setting with the name at the beginning of `path`; empty otherwise."""
    known = [NODE_IMAGE, *(each.alias or name for name, each in Pool.model_fields.items())]
    first = path.partition(".")[0]
    if first in known:
        return []
    near = nearest(first, [*known, *OTHER_NAMES])
    meant = OTHER_NAMES.get(near, near) if near else None
    fix = f"did you mean {meant}?" if meant else f"settings of a pool: {', '.join(known)}"
    return [f"--to {text}: a pool has no setting '{first}'; {fix}"]


def values(to: Mapping[str, str], new: str) -> dict[str, Any]:
    """The requested settings as data below the pool: `{"osDisk": {"sizeGb": 1024}}`.

    Raises:
        SettingsError: a path or a value cannot be read.
    """
    assigned = [f"pools.{new}.{path}={value}" for path, value in to.items() if path != NODE_IMAGE]
    if not assigned:
        return {}
    pools: Mapping[str, Any] = Overlay.assign(assigned).data["pools"]
    return dict(pools[new])


def name_of_new(old: str, taken: Collection[str], removed: Collection[str], wanted: str | None = None) -> str:
    """Name of the new pool: `wanted`, or the old pool's name with another last letter.

    >>> name_of_new("h100gpu", ["h100gpu"], [])
    'h100gpub'
    >>> name_of_new("h100gpub", ["h100gpub"], ["h100gpu"])
    'h100gpuc'

    Args:
        taken: Names of the stack's pools.
        removed: Names of pools that lower layers describe and the stack has removed. Their former settings would be
            merged into a new pool of the same name.

    Raises:
        Refused: the name is invalid or taken.
    """
    if wanted is not None:
        _check_name(wanted, taken, removed)
        return wanted
    stem = old[:-1] if old[-1] in SUFFIXES and old[:-1] in removed else old
    for letter in SUFFIXES:
        name = stem[: MOST_LETTERS - 1] + letter
        if name not in taken and name not in removed:
            return name
    raise Refused(f"no name is free for a pool beside {old}; choose one with --name")


def _check_name(wanted: str, taken: Collection[str], removed: Collection[str]) -> None:
    if len(wanted) > MOST_LETTERS:
        raise Refused(
            f"--name {wanted}: AKS takes at most {MOST_LETTERS} letters for a Linux pool, and this has {len(wanted)};"
            f" shorten it, like {wanted[:MOST_LETTERS]}"
        )
    if not NAME.fullmatch(wanted):
        raise Refused(f"--name {wanted}: write lowercase letters and digits, beginning with a letter")
    if wanted in taken:
        raise Refused(f"--name {wanted}: the cluster has a node pool of this name; choose another")
    if wanted in removed:
        raise Refused(
            f"--name {wanted}: a layer describes a pool of this name, which would be merged in; choose another"
        )


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """`above` over `below`: maps are merged key by key; a None in `above` removes the key."""
    found = dict(below)
    for key, value in above.items():
        before = found.get(key)
        if value is None:
            found.pop(key, None)
        elif is_mapping(value) and is_mapping(before):
            found[key] = merged(before, value)
        else:
            found[key] = value
    return found
