"""Effect of a change of inputs: none, an update in place, or a replacement. Pure functions.

Rules and table: pulumi-kubernetes v4, provider/pkg/provider/{diff,provider}.go.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, cast

from physical_ai.kubernetes.quantities import quantity
from simulator.kubernetes.force_new import FORCE_NEW
from simulator.kubernetes.kubeconfig import active_cluster
from simulator.kubernetes.normalizing import is_known, normalized
from simulator.kubernetes.objects import (
    AUTONAMED,
    Object,
    annotated,
    gvk_of,
    is_secret,
    metadata,
    name_of,
    namespace_of,
    to_api,
)
from simulator.wire import UNKNOWN, Diff, changes

_IDENTITY = ("metadata.name", "metadata.namespace")


@dataclass(frozen=True)
class Mutability:
    """Options of the provider to update ConfigMaps and Secrets in place. By default, a change of their data replaces
    the object.
    """

    config_maps: bool = False
    secrets: bool = False


def replacing_paths(obj: Object, mutability: Mutability, patch: bool) -> list[str]:
    """Paths of the properties whose change replaces this object."""
    if patch:
        return list(_IDENTITY)
    group, _, kind = gvk_of(obj)
    immutable = obj.get("immutable") is True
    if is_secret(obj) and (not mutability.secrets or immutable):
        return [*_IDENTITY, "type", "stringData", "data"]
    if (group, kind) == ("", "ConfigMap") and (not mutability.config_maps or immutable):
        return [*_IDENTITY, "binaryData", "data"]
    return [*_IDENTITY, *FORCE_NEW.get((group, kind), ())]


def diff_objects(
    old_inputs: Object, live: Object, new: Object, *, namespaced: bool, mutability: Mutability, patch: bool
) -> Diff:
    """Difference between the live object and the new inputs. The comparison uses only the fields of the live object
    that are in the old inputs: changes that a refresh found in these fields are undone, and fields that the cluster has
    added are ignored.
    """
    wanted = normalized(to_api(new))
    known = is_known(wanted)
    base = as_inputs(to_api(live), to_api(old_inputs), without_emptied=known)
    if known:
        wanted = cast("Object", _in_form(wanted, base, normalized(to_api(old_inputs))))
    for side in (base, wanted):
        if isinstance(side.get("metadata"), dict):
            side["metadata"] = _scoped(metadata(side), namespaced)
    if name_of(wanted) and isinstance(base.get("metadata"), dict) and name_of(live):
        base["metadata"]["name"] = name_of(live)
    base.setdefault("apiVersion", wanted.get("apiVersion"))
    base.setdefault("kind", wanted.get("kind"))
    return Diff(
        changes=changes(base, wanted, member=member),
        replaces=replacing_paths(wanted, mutability, patch),
        delete_before_replace=not annotated(wanted, AUTONAMED)
        and bool(name_of(wanted))
        and name_of(wanted) == name_of(base)
        and namespace_of(wanted) == namespace_of(base),
        of_inputs=False,
    )


def as_inputs(live: Object, inputs: Object, *, without_emptied: bool = False) -> Object:
    """The live object reduced to the fields of `inputs`: the inputs that the program would have to write to get this
    object.

    Fields of `inputs` that the live object does not have are left out. With `without_emptied`, maps that are empty in
    `inputs` but not in the live object are left out, too: a refresh has removed every entry of such a map.
    """
    shape = normalized(inputs)
    return cast("Object", _pruned(live, shape, without_emptied)) if live else shape


def three_way(declared: Any, current: Any, wanted: Any) -> Any:
    """Object to compare with `wanted`: the values in `current` of the fields in `wanted`, and the values in `declared`
    of the fields that `wanted` lacks.
    """
    if not isinstance(current, dict) or not isinstance(wanted, dict):
        return cast("Any", current)
    state, named = cast("Object", current), cast("Object", wanted)
    before = cast("Object", declared) if isinstance(declared, dict) else {}
    kept = {key: three_way(before.get(key), state[key], item) for key, item in named.items() if key in state}
    return {**kept, **{key: item for key, item in before.items() if key not in named}}


def member(path: str, key: str) -> str:
    """Path of a property in the official plugin's notation: `key` is quoted only if it contains a dot, a quote or a
    bracket.
    """
    if re.search(r'[."\[\]]', key):
        quoted = key.replace('"', '\\"')
        return f'{path}["{quoted}"]'
    return f"{path}.{key}" if path else key


def same_quantity(one: Any, other: Any) -> bool:
    """True if both values are the same resource quantity in different notations, such as `1000m` and `1`, or `0.5` and
    `500m`.
    """
    left, right = quantity(one), quantity(other)
    return left is not None and left == right


def diff_config(old: Object, new: Object) -> Diff:
    """Difference between two configurations of a provider. Its resources are replaced if the new configuration points
    at another cluster.

    If `clusterIdentifier` is set, only a change of `clusterIdentifier` means another cluster. Otherwise, two things do:
    a kubeconfig, context or cluster whose value is still unknown, or a change of the kubeconfig's cluster section in
    effect.
    """
    changed = changes(old, new)
    identifier = new.get("clusterIdentifier")
    if identifier and identifier is not UNKNOWN and identifier == old.get("clusterIdentifier"):
        return Diff(changed)
    replaces: list[str] = []
    if changed.get("clusterIdentifier") == "update":
        replaces.append("clusterIdentifier")
    for key in _CLUSTER_KEYS:
        if new.get(key) is UNKNOWN:
            return Diff({**changed, key: "update"}, [*replaces, key])
    before, after = _stanza(old), _stanza(new)
    if before is not None and after is not None and before != after:
        replaces += [key for key in _CLUSTER_KEYS if any(path.split(".")[0] == key for path in changed)]
    return Diff(changed, replaces)


_CLUSTER_KEYS = ("kubeconfig", "context", "cluster")


def _stanza(config: Object) -> Object | None:
    return active_cluster(config.get("kubeconfig"), str(config.get("context") or ""), str(config.get("cluster") or ""))


def _scoped(members: Object, namespaced: bool) -> Object:
    rest = {key: value for key, value in members.items() if key != "namespace"}
    return {**rest, "namespace": members.get("namespace") or "default"} if namespaced else rest


_QUANTITIES = frozenset(
    {"capacity", "default", "defaultRequest", "hard", "limits", "max", "min", "overhead", "requests", "sizeLimit"}
)
"""Names of fields whose values are resource quantities. In these fields `1.10` equals `1.1`; in all other fields these
are different texts.
"""


def _pruned(live: Any, shape: Any, without_emptied: bool) -> Any:
    if isinstance(live, dict) and isinstance(shape, dict):
        members, model = cast("Object", live), cast("Object", shape)
        return {
            key: _pruned(members[key], item, without_emptied)
            for key, item in model.items()
            if key in members and not (without_emptied and item == {} and members[key])
        }
    if isinstance(live, list) and isinstance(shape, list):
        items, models = cast("list[Any]", live), cast("list[Any]", shape)
        return [_pruned(item, model, without_emptied) for item, model in zip(items, models, strict=False)]
    return cast("Any", live)


def _in_form(new: Any, base: Any, old: Any, quantities: bool = False) -> Any:
    """The new inputs in the notation of the live object: equal quantities are written alike, and empty values that the
    server drops are left out.
    """
    if isinstance(new, dict) and isinstance(base, dict):
        wanted, held = cast("Object", new), cast("Object", base)
        before = cast("Object", old) if isinstance(old, dict) else {}
        return {
            key: _in_form(item, held.get(key), before.get(key), quantities or key in _QUANTITIES)
            for key, item in wanted.items()
            if key in held or not (_empty(item) and (key in before or _dropped(key, item)))
        }
    if isinstance(new, list) and isinstance(base, list):
        items, held_items = cast("list[Any]", new), cast("list[Any]", base)
        models = cast("list[Any]", old) if isinstance(old, list) else []
        return [_in_form(item, _at(held_items, i), _at(models, i), quantities) for i, item in enumerate(items)]
    return cast("Any", base if quantities and same_quantity(base, new) else new)


def _at(items: list[Any], place: int) -> Any:
    """The element at index `place` of a list; None beyond the end of the list."""
    return items[place] if place < len(items) else None


def _dropped(key: str, empty: Any) -> bool:
    """True if the API server drops an empty value under the key `key`.

    An empty map is dropped only for annotations and labels, because in other fields an empty map often has a meaning.
    """
    return empty in ([], "") or (empty == {} and key in ("annotations", "labels"))


def _empty(value: Any) -> bool:
    return value is not UNKNOWN and not value
