"""Kubernetes objects as the provider sees them: kinds, names, scopes, annotations, and the forms in which the provider
compares objects.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast

from simulator.wire import UNKNOWN, Request

Object = dict[str, Any]

AUTONAMED = "pulumi.com/autonamed"
DELETION_POLICY = "pulumi.com/deletionPropagationPolicy"
FIELD_MANAGER = "pulumi.com/patchFieldManager"
PATCH_FORCE = "pulumi.com/patchForce"
REPLACE_UNREADY = "pulumi.com/replaceUnready"
SKIP_AWAIT = "pulumi.com/skipAwait"
TIMEOUT = "pulumi.com/timeoutSeconds"
WAIT_FOR = "pulumi.com/waitFor"

INPUTS = "__inputs"
"""Name of the output that stores the inputs of the last operation, even of a failed operation. The provider compares
new inputs with the stored inputs.
"""

RELEASE_TYPE = "kubernetes:helm.sh/v3:Release"

READ_ONLY_METADATA = (
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
)

# Kubernetes 1.36 API reference: groups of the API server itself, whose kinds no CRD can add to.
BUILT_IN_GROUPS = frozenset(
    {
        "",
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "apps",
        "authentication.k8s.io",
        "authorization.k8s.io",
        "autoscaling",
        "batch",
        "certificates.k8s.io",
        "coordination.k8s.io",
        "discovery.k8s.io",
        "events.k8s.io",
        "extensions",
        "flowcontrol.apiserver.k8s.io",
        "networking.k8s.io",
        "node.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "scheduling.k8s.io",
        "storage.k8s.io",
    }
)

# Kubernetes 1.36 API reference: kinds without a namespace, for use without a server.
CLUSTER_SCOPED = frozenset(
    {
        ("", "Namespace"),
        ("", "Node"),
        ("", "PersistentVolume"),
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"),
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("apiregistration.k8s.io", "APIService"),
        ("certificates.k8s.io", "CertificateSigningRequest"),
        ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
        ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
        ("networking.k8s.io", "IngressClass"),
        ("node.k8s.io", "RuntimeClass"),
        ("rbac.authorization.k8s.io", "ClusterRole"),
        ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
        ("scheduling.k8s.io", "PriorityClass"),
        ("storage.k8s.io", "CSIDriver"),
        ("storage.k8s.io", "CSINode"),
        ("storage.k8s.io", "StorageClass"),
        ("storage.k8s.io", "VolumeAttachment"),
    }
)

_DECIDED_LATER = ("uid", "resourceVersion", "creationTimestamp", "generation")

# Names of properties in the API that have dashes, by their names in Pulumi's schema (pulumi-kubernetes, provider.go).
_DASHED = {
    f"x_kubernetes_{name}": f"x-kubernetes-{name.replace('_', '-')}"
    for name in (
        "embedded_resource",
        "int_or_string",
        "list_map_keys",
        "list_type",
        "map_type",
        "preserve_unknown_fields",
        "validations",
    )
}
_UNDERSCORED = {dashed: underscored for underscored, dashed in _DASHED.items()}


class Gvk(NamedTuple):
    """Group, version and kind; the core group is the empty string."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


def gvk_of_type(token: str) -> Gvk:
    """Group, version and kind of a type token such as `kubernetes:apps/v1:Deployment`."""
    _, api_version, kind = token.split(":", 2)
    group, _, version = api_version.rpartition("/")
    return Gvk("" if group == "core" else group, version, kind)


def gvk_of(obj: Mapping[str, Any]) -> Gvk:
    """Group, version and kind that an object states itself."""
    group, _, version = str(obj.get("apiVersion", "")).rpartition("/")
    return Gvk("" if group == "core" else group, version, str(obj.get("kind", "")))


def is_patch(token: str, obj: Mapping[str, Any]) -> bool:
    """True for a Patch resource, which sets only some fields of an object that it does not own."""
    return token.endswith("Patch") and not str(obj.get("kind", "")).endswith("Patch")


def is_crd(obj: Mapping[str, Any]) -> bool:
    return gvk_of(obj)[::2] == ("apiextensions.k8s.io", "CustomResourceDefinition")


def is_secret(obj: Mapping[str, Any]) -> bool:
    return obj.get("kind") == "Secret" and obj.get("apiVersion") == "v1"


def inputs_of(outputs: Mapping[str, Any], kept: Object) -> Object:
    """The inputs of the last operation on a resource, as stored in its `outputs`; `kept`, the inputs in the engine's
    state, if `outputs` contains none.
    """
    held = outputs.get(INPUTS)
    return cast("Object", held) if isinstance(held, dict) else kept


def metadata(obj: Mapping[str, Any]) -> Object:
    """The object's metadata; empty if it is missing or not known yet."""
    held = obj.get("metadata")
    return cast("Object", held) if isinstance(held, dict) else {}


def name_of(obj: Mapping[str, Any]) -> str:
    return str(metadata(obj).get("name") or "")


def namespace_of(obj: Mapping[str, Any]) -> str:
    return str(metadata(obj).get("namespace") or "")


def annotation(obj: Mapping[str, Any], key: str) -> str:
    """An annotation's value; empty if it is not set."""
    held = metadata(obj).get("annotations")
    value = cast("Object", held).get(key) if isinstance(held, dict) else None
    return value if isinstance(value, str) else ""


def annotated(obj: Mapping[str, Any], key: str) -> bool:
    return annotation(obj, key) == "true"


def object_id(obj: Mapping[str, Any]) -> str:
    """Pulumi's id of an object: `namespace/name`, or `name` for cluster-scoped kinds."""
    return f"{namespace_of(obj)}/{name_of(obj)}" if namespace_of(obj) else name_of(obj)


def parse_id(id: str) -> tuple[str, str]:
    """Namespace (may be empty) and name in Pulumi's id of an object."""
    namespace, _, name = id.rpartition("/")
    return namespace, name


def field_manager(urn: str) -> str:
    """Name of the field manager with which the provider writes a resource.

    The official plugin generates a random name and keeps it in the state. Here the name is computed from the URN.
    """
    return f"pulumi-kubernetes-{hashlib.sha256(urn.encode()).hexdigest()[:8]}"


def autoname(request: Request) -> str:
    """The engine's proposed name, or the logical name followed by eight hex digits of the engine's seed,
    in DNS form.
    """
    if request.proposed_name:
        return request.proposed_name
    suffix = hashlib.sha256(request.random_seed or request.urn.encode()).hexdigest()[:8]
    base = re.sub(r"[^a-z0-9.-]+", "-", request.name.lower()).strip("-.") or "object"
    return f"{base[:54]}-{suffix}"


def without_nulls(value: Any) -> Any:
    """A copy without members that are None, at any depth."""
    if isinstance(value, dict):
        members = cast("Object", value)
        return {key: without_nulls(item) for key, item in members.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in cast("list[Any]", value)]
    return value


def to_api(obj: Object) -> Object:
    """Inputs in the API server's form: without the provider's own keys, with dashed names restored."""
    own = {key: value for key, value in obj.items() if not key.startswith("__")}
    return cast("Object", _renamed(without_nulls(own), lambda key: _DASHED.get(key, key)))


def from_api(obj: Object) -> Object:
    """An object of the API server in Pulumi's property names, without the record of managed fields."""
    renamed = cast("Object", _renamed(obj, lambda key: _UNDERSCORED.get(key, key)))
    metadata(renamed).pop("managedFields", None)
    return renamed


def without_read_only(obj: Object) -> Object:
    """A copy without the metadata fields that only the server sets."""
    held = obj.get("metadata")
    if not isinstance(held, dict):
        return dict(obj)
    members = cast("Object", held)
    return {**obj, "metadata": {key: value for key, value in members.items() if key not in READ_ONLY_METADATA}}


def with_unknowns(preview: Object, inputs: Mapping[str, Any]) -> Object:
    """The result of a dry run, in which all values that only the real run can determine are marked as unknown."""
    live = {key: value for key, value in preview.items() if key != "status"}
    live["metadata"] = metadata(live) | dict.fromkeys(_DECIDED_LATER, UNKNOWN)
    if live.get("kind") == "Service" and isinstance(live.get("spec"), dict):
        spec, requested = cast("Object", live["spec"]), cast("Object", inputs.get("spec") or {})
        live["spec"] = {
            key: UNKNOWN if key in ("clusterIP", "clusterIPs") and key not in requested else value
            for key, value in spec.items()
        }
    return live


def _renamed(value: Any, rename: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        members = cast("Object", value)
        return {rename(key): _renamed(item, rename) for key, item in members.items()}
    if isinstance(value, list):
        return [_renamed(item, rename) for item in cast("list[Any]", value)]
    return value


def imported_inputs(live: Object) -> Object:
    """Inputs for an imported object: the live object without its status and without the fields that the server sets."""
    inputs = without_read_only({key: value for key, value in live.items() if key != "status"})
    held = metadata(inputs)
    notes = cast("Object", held.get("annotations") or {})
    kept = {key: value for key, value in notes.items() if key not in _SERVER_ANNOTATIONS}
    rest = {key: value for key, value in held.items() if key != "annotations"}
    return {**inputs, "metadata": rest | ({"annotations": kept} if kept else {})}


_SERVER_ANNOTATIONS = ("deployment.kubernetes.io/revision", "kubectl.kubernetes.io/last-applied-configuration")
