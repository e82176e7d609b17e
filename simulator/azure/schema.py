"""Checks of a body against its type's table: required, type, enum, pattern, range, unknown and read-only properties.

The table is the one for the API version that the request names, because a property may be missing in other versions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast

from simulator.azure.bodies import to_body
from simulator.azure.data import TypeMapping, by_token, mappings, rules, schema, tables
from simulator.azure.errors import Refusal
from simulator.azure.registry import models
from simulator.wire import UNKNOWN, Failure, Refused

Kind = Literal["required", "type", "enum", "pattern", "length", "range", "unknown", "readOnly"]

CLIENT_SIDE: tuple[Kind, ...] = ("required", "type", "length", "pattern", "range")
"""Kinds of constraints that azure-native checks before it sends a request. Only the service checks the other kinds."""


@dataclass(frozen=True)
class Departure:
    """One violation of the schema by a request body."""

    kind: Kind
    path: str
    """Path in the body, with list indices: `properties.agentPoolProfiles[0].count`."""
    spot: str
    """Path in the schema's form: `properties.agentPoolProfiles[].count`."""
    message: str


@dataclass(frozen=True)
class _Spec:
    """The schema of a kind at one API version."""

    kind: str
    api_version: str = ""
    """API version of the schema; empty for the API version that azure-native sends."""

    @property
    def table(self) -> tables.Table:
        return schema(self.kind, self.api_version)


def findings(kind: str, body: Mapping[str, Any], api_version: str = "") -> list[Departure]:
    """All schema violations, in the body's order.

    Values that are not known yet are accepted. Raises `LookupError` if the API version was not recorded.
    """
    return list(_object(_Spec(kind, api_version), body, "", ""))


@cache
def _members(spec: _Spec) -> Mapping[str, tuple[str, ...]]:
    """Names of the properties in each object of a body, by the object's path."""
    found: dict[str, tuple[str, ...]] = {}
    for path in spec.table:
        parent, _, name = path.rpartition(".")
        if not name.endswith(("]", "}")):
            found[parent] = (*found.get(parent, ()), name)
    return found


def _object(spec: _Spec, value: Mapping[str, Any], path: str, spot: str) -> Iterator[Departure]:
    table = spec.table
    prefix, spots = (f"{path}.", f"{spot}.") if path else ("", "")
    children = _members(spec).get(spot, ())
    for name in children:
        if table[spots + name].get("required") and name not in value:
            yield Departure("required", prefix + name, spots + name, f"Required property '{prefix + name}' is missing.")
    # An object whose members are not in the table is a reference or an opaque bag.
    is_open = not children or table.get(spot, {}).get("subResource", False)
    for name, item in value.items():
        rule = table.get(spots + name)
        if rule is not None:
            yield from _value(spec, rule, item, prefix + name, spots + name)
        elif not is_open:
            yield Departure("unknown", prefix + name, spots + name, f"Could not find member '{name}' on the object.")


def _value(spec: _Spec, rule: Mapping[str, Any], value: Any, path: str, spot: str) -> Iterator[Departure]:
    table = spec.table
    if value is UNKNOWN or value is None:
        return
    if rule.get("readOnly"):
        yield Departure("readOnly", path, spot, f"Property '{path}' is read-only.")
        return
    if not _fits(rule.get("type", "any"), value):
        yield Departure("type", path, spot, f"Cannot unmarshal {_noun(value)} into '{path}' of type {rule['type']}.")
        return
    yield from _constraints(rule, value, path, spot)
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value)
        if rule.get("type") == "map":
            inner = rule.get("values") or table.get(f"{spot}{{}}")
            for name, item in members.items():
                if inner is not None:
                    yield from _value(spec, inner, item, f"{path}.{name}", f"{spot}{{}}")
        else:
            yield from _object(spec, members, path, spot)
    elif isinstance(value, list):
        inner = rule.get("items") or table.get(f"{spot}[]")
        for index, item in enumerate(cast("list[Any]", value)):
            if inner is not None:
                yield from _value(spec, inner, item, f"{path}[{index}]", f"{spot}[]")


def _constraints(rule: Mapping[str, Any], value: Any, path: str, spot: str) -> Iterator[Departure]:
    if isinstance(value, str):
        least, most = rule.get("minLength", 0), rule.get("maxLength")
        if len(value) < least or (most is not None and len(value) > most):
            yield Departure("length", path, spot, f"'{value}' must have {least} to {most} characters.")
        elif "pattern" in rule and not re.search(rule["pattern"], value):
            yield Departure("pattern", path, spot, f"'{value}' does not match {rule['pattern']}.")
        if "enum" in rule and value not in rule["enum"]:
            yield Departure("enum", path, spot, f"'{value}' is not one of {', '.join(rule['enum'])}.")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        least, most = rule.get("min"), rule.get("max")
        if (least is not None and value < least) or (most is not None and value > most):
            yield Departure("range", path, spot, f"{value} is outside {_range(least, most)}.")
    elif isinstance(value, list) and "maxLength" in rule and len(cast("list[Any]", value)) > rule["maxLength"]:
        yield Departure("length", path, spot, f"At most {rule['maxLength']} entries.")


def _range(least: Any, most: Any) -> str:
    return f"{'' if least is None else least}..{'' if most is None else most}"


_TYPES: Mapping[str, Any] = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": int | float,
    "array": list,
    "object": Mapping,
    "map": Mapping,
}


def _fits(wanted: str, value: Any) -> bool:
    if isinstance(value, bool):
        return wanted in ("boolean", "any")
    return isinstance(value, _TYPES.get(wanted, object))


def _noun(value: Any) -> str:
    nouns = ((bool, "a boolean"), (str, "a string"), (int | float, "a number"), (list, "an array"))
    return next((noun for kind, noun in nouns if isinstance(value, kind)), "an object")


NAMED_RULES: Mapping[str, tuple[Kind, str]] = {
    "pool-name": ("pattern", r"^AgentPool:name$|agentPoolProfiles\[\]\.name$"),
    "gpu-driver-enum": ("enum", r"gpuProfile\.driver$"),
    "gpu-instance-enum": ("enum", r"gpuInstanceProfile$"),
    "gpu-drivertype-linux": ("unknown", r"gpuProfile\.driverType$"),
    "init-taints": ("unknown", r"nodeInitializationTaints$"),
    "ossku-known": ("enum", r"osSKU$"),
    "osdisk-range": ("range", r"osDiskSizeGB$"),
    "drain-range": ("range", r"drainTimeoutInMinutes$"),
    "soak-range": ("range", r"nodeSoakDurationInMinutes$"),
    "gateway-prefix": ("range", r"gatewayProfile\.publicIPPrefixSize$"),
    "kubelet-logfiles": ("range", r"kubeletConfig\.containerLogMaxFiles$"),
    "hostports": ("range", r"allowedHostPorts\[\]\.port(Start|End)$"),
    "net-lb-ports": ("range", r"loadBalancerProfile\.allocatedOutboundPorts$"),
    "net-nat-idle": ("range", r"natGatewayProfile\."),
    "mc-autoscaler-types": ("type", r"autoScalerProfile\."),
    "mc-name": ("pattern", r"^ManagedCluster:name$"),
    "maint-duration": ("range", r"durationHours$"),
    "maint-hours": ("range", r"hourSlots\[\]$"),
    "rg-name": ("pattern", r"^ResourceGroup:name$"),
    "fic-name": ("pattern", r"^FederatedIdentityCredential:name$"),
    "kv-sku": ("enum", r"^Vault:properties\.sku\."),
    "kv-secret-name": ("pattern", r"^VaultSecret:name$"),
    "st-name": ("pattern", r"^StorageAccount:name$"),
    "blob-service-name": ("enum", r"^(BlobServiceProperties|ManagementPolicy):name$"),
    "acr-name": ("pattern", r"^Registry:name$"),
    "acr-cache-name": ("pattern", r"^CacheRule:name$"),
    "redis-name": ("pattern", r"^RedisEnterprise:name$"),
    "redis-public": ("required", r"^RedisEnterprise:properties\.publicNetworkAccess$"),
    "law-name": ("pattern", r"^Workspace:name$"),
    "amw-name": ("pattern", r"^AzureMonitorWorkspace:name$"),
    "graf-name": ("pattern", r"^Grafana:name$"),
    "ag-short": ("length", r"^ActionGroup:properties\.groupShortName$"),
}
"""Rules of rules.json that the schema check already covers: rule id → kind of violation, and pattern of type and path.
"""


@models("arm-unknown-prop", "arm-wrong-type", "arm-api-version-offer")
def refusals(mapping: TypeMapping, body: Mapping[str, Any], api_version: str = "") -> list[Refusal]:
    """Every schema violation, with the service's message.

    Raises:
        Refused: the API version exists, and the simulator has no recording of it.
    """
    version = api_version or mapping.api_version
    published = tables.published_versions()[mapping.arm_type]
    if version not in published:
        message = (
            f"No registered resource provider found for location '{body.get('location', '')}' and API version"
            f" '{version}' for type '{mapping.arm_type.partition('/')[2]}'. The supported api-versions are"
            f" '{', '.join(published)}'."
        )
        return [Refusal("arm-api-version-offer", 400, "NoRegisteredProviderFound", message, "api-version")]
    recorded = tables.recorded_versions(mapping.kind)
    if version not in recorded:
        raise Refused(
            f"this simulator has no recording of {mapping.arm_type} at API version {version}; it has"
            f" {', '.join(recorded)}"
        )
    return [_refusal(mapping, departure) for departure in findings(mapping.kind, body, version)]


def _refusal(mapping: TypeMapping, departure: Departure) -> Refusal:
    place = f"{mapping.kind}:{departure.spot}"
    for rule_id, (kind, pattern) in NAMED_RULES.items():
        if _alike(kind, departure.kind) and re.search(pattern, place):
            rule = rules()[rule_id]
            return Refusal(rule_id, rule.status, rule.codes[0], departure.message, departure.path, mapping.is_aks)
    rule_id = "arm-unknown-prop" if departure.kind in ("unknown", "readOnly") else "arm-wrong-type"
    return Refusal(rule_id, 400, _code(mapping, departure.kind), departure.message, departure.path, mapping.is_aks)


def _alike(rule: Kind, found: Kind) -> bool:
    return rule == found or (rule == "pattern" and found == "length")


def _code(mapping: TypeMapping, kind: Kind) -> str:
    if mapping.is_network:
        return "InvalidRequestFormat"
    if mapping.is_aks:
        return "UnmarshalError" if kind in ("type", "unknown") else "InvalidParameter"
    return "InvalidRequestContent"


def client_failures(mapping: TypeMapping, inputs: Mapping[str, Any]) -> list[Failure]:
    """Failures that azure-native's own Check finds in the inputs, before it sends any request."""
    missing = [name for name in mapping.required_inputs if inputs.get(name) is None]
    failures = [Failure(name, f"missing required property '{name}'") for name in missing]
    for departure in findings(mapping.kind, to_body(mapping, inputs)):
        name = mapping.name_param if departure.path == "name" else _input_path(departure.path)
        if (
            departure.kind in CLIENT_SIDE
            and name not in missing
            and not (departure.kind == "required" and "." not in name)
        ):
            failures.append(Failure(name, departure.message.replace(f"'{departure.path}'", f"'{name}'")))
    return failures


def _input_path(path: str) -> str:
    flat = re.sub(r"(^|\.)properties\.", r"\1", path)
    return re.sub(r"-([a-z])", lambda found: found.group(1).upper(), flat)


def mapping_of(type: str) -> TypeMapping:
    """The mapping of a resource type between Pulumi inputs and ARM bodies. Raises Refused if the simulator does not
    know the type.

    `type`: a Pulumi type token, or only its last part.
    """
    found = by_token().get(type) or mappings().get(type)
    if found is None:
        raise Refused(f"this simulator has no model of {type}; it has {', '.join(sorted(by_token()))}")
    return found
