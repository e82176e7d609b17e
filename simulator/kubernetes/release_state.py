"""State of a Helm release as the engine records it: from helm's own data about the release and from its inputs. Pure
functions.
"""

from __future__ import annotations

from typing import cast

from physical_ai import safe_yaml
from simulator.kubernetes.helm import Document
from simulator.kubernetes.objects import INPUTS, Object
from simulator.wire import Secret


def resource_names(manifest: str) -> dict[str, list[str]]:
    """Names of the objects in a rendered manifest, in the official plugin's groups: `{"Kind.group/version":
    [name…]}`.
    """
    names: dict[str, list[str]] = {}
    for document in safe_yaml.load_all(manifest):
        if not isinstance(document, dict) or "kind" not in document:
            continue
        obj = cast("Object", document)
        group, _, version = str(obj.get("apiVersion", "")).rpartition("/")
        held = cast("Object", obj.get("metadata") or {})
        name = f"{held['namespace']}/{held.get('name')}" if held.get("namespace") else str(held.get("name"))
        names.setdefault(f"{obj['kind']}.{group}/{version}" if group else f"{obj['kind']}/{version}", []).append(name)
    return {kind: sorted(found) for kind, found in sorted(names.items())}


def over(base: Document, top: Document) -> Document:
    """`base` overridden by `top`: maps are merged at every depth, other values replaced."""
    merged = dict(base)
    for key, value in top.items():
        held = merged.get(key)
        merged[key] = (
            over(cast("Document", held), cast("Document", value))
            if isinstance(held, dict) and isinstance(value, dict)
            else value
        )
    return merged


def info(live: Document) -> Document:
    return cast("Document", live.get("info") or {})


def revision_of(state: Object) -> int:
    """Number of the release's revision in its state; 0 before the first one."""
    return int(cast("Document", state.get("status") or {}).get("revision") or 0)


def state_of(state: Object, inputs: Object, live: Document, chart: Document) -> Object:
    """Outputs of the release: `state`, updated with helm's data about the release.

    `inputs` are stored for the comparison by the next run. They are secret as a whole, as in the official plugin.
    """
    values = over(cast("Document", state.get("values") or {}), cast("Document", live.get("config") or {}))
    before = cast("Document", state.get("status") or {}).get("version")
    declared = state.get("version") if before in (None, chart.get("version")) else None
    status = {
        "appVersion": chart.get("appVersion"),
        "chart": chart.get("name"),
        "name": live.get("name"),
        "namespace": live.get("namespace"),
        "revision": live.get("version"),
        "status": info(live).get("status"),
        "version": chart.get("version"),
    }
    return {
        **state,
        **({"values": values} if values else {}),
        "version": declared or chart.get("version"),
        "resourceNames": resource_names(str(live.get("manifest") or "")),
        "status": {key: value for key, value in status.items() if value is not None},
        INPUTS: Secret(dict(inputs)),
    }
