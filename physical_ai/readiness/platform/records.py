"""Helm's record of a release, with the manifest of its last deployed revision. Pure functions."""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml

from physical_ai import safe_yaml
from physical_ai.kubernetes.objects import Json, at, labels, namespace
from physical_ai.nested import is_mapping
from physical_ai.readiness.platform.parts import KINDS, Part, part_of

MOST = 64 << 20
"""Maximum size of an unpacked record, in bytes. A packed record has at most 1 MiB, the limit of a Secret."""
RELEASE_NAME, RELEASE_NAMESPACE = "meta.helm.sh/release-name", "meta.helm.sh/release-namespace"
"""Annotations that Helm writes on all objects of a release (Helm v3 and v4, pkg/action)."""
_KIND = re.compile(r"^kind:\s*[\"']?(\w+)", re.MULTILINE)
_PARTS = re.compile(r"^---.*$", re.MULTILINE)


def revisions(secrets: Iterable[Json], namespaces: frozenset[str]) -> dict[tuple[str, str], Json]:
    """Last deployed record of each release, by the release's namespace and name."""
    found: dict[tuple[str, str], Json] = {}
    for each in sorted(secrets, key=_revision):
        if labels(each).get("status") == "deployed" and namespace(each) in namespaces:
            found[namespace(each), labels(each).get("name", "")] = each
    return found


def release_of(item: Mapping[str, Any]) -> tuple[str, str]:
    """Release that created an object, and its namespace, by Helm's annotations; both texts are empty for an object
    without them.
    """
    told: Mapping[str, Any] = at(item, "metadata.annotations", {})
    return str(told.get(RELEASE_NAME, "")), str(told.get(RELEASE_NAMESPACE, ""))


def recorded(secret: Json) -> list[Part]:
    """Objects of the release in Helm's record `secret`, of the kinds that the diagnosis compares with the cluster;
    empty if the record cannot be read.
    """
    release, home, revision = labels(secret).get("name", ""), namespace(secret), _revision(secret)
    manifest = _manifest(secret)
    objects = list(_objects(manifest))
    found = [part_of(each, release, home, revision) for each in objects]
    maps = (_map(own, manifest, release, home, revision) for own in dict.fromkeys(_mounted(objects)))
    return [*(each for each in found if each is not None), *maps]


def _mounted(objects: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Namespace and name of each ConfigMap that the Pods of `objects` mount and cannot start without."""
    for item in objects:
        for volume in at(item, "spec.template.spec.volumes") or ():
            own = at(volume, "configMap.name")
            if own and not at(volume, "configMap.optional", False):
                yield namespace(item), str(own)


def _map(own: tuple[str, str], manifest: str, release: str, home: str, revision: int) -> Part:
    """Expected object for the ConfigMap `own` (namespace, name) that Pods of a release mount. The object belongs to the
    release if the release's `manifest` has it; otherwise somebody else has to create it.
    """
    named = re.compile(rf"^  name:\s*[\"']?{re.escape(own[1])}[\"']?\s*$", re.MULTILINE)
    texts = (text for text in _PARTS.split(manifest) if (kind := _KIND.search(text)) and kind[1] == "ConfigMap")
    if any(named.search(text) for text in texts):
        return Part("ConfigMap", own[0] or home, own[1], release=release, home=home, revision=revision)
    return Part("ConfigMap", own[0] or home, own[1])


def _manifest(secret: Json) -> str:
    try:
        packed = base64.b64decode(base64.b64decode(str(at(secret, "data.release", "") or "")))
        text = zlib.decompressobj(wbits=47).decompress(packed, MOST)
        document: Any = json.loads(text)
    except (binascii.Error, zlib.error, ValueError):
        return ""
    return str(document.get("manifest", "")) if is_mapping(document) else ""


def _objects(manifest: str) -> Iterator[Mapping[str, Any]]:
    """Objects in `manifest` of the kinds in `KINDS`. Objects of other kinds are often large, and are not parsed."""
    for text in _PARTS.split(manifest):
        kind = _KIND.search(text)
        if kind is None or kind[1] not in KINDS:
            continue
        try:
            document: Any = safe_yaml.load(text)
        except yaml.YAMLError:
            continue
        if is_mapping(document):
            yield document


def _revision(secret: Json) -> int:
    text = labels(secret).get("version", "")
    return int(text) if text.isascii() and text.isdigit() else 0
