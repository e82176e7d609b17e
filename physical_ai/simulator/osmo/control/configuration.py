"""What the deployed stack declares of its control plane: roles, pools, and how people log in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import yaml

from physical_ai.catalog.osmo import CONTROL_NAMESPACE
from physical_ai.simulator.cluster.objects import Json, at
from physical_ai.simulator.entra import DEPLOYERS
from physical_ai.simulator.osmo.control.policies import USER, Role, roles_of

VALUES = "osmo-service-values"
"""ConfigMap with the values for the chart `service`, one file for each section."""
APPLICATION = "5a1e0000-0000-4000-8000-00000000a5a0"
"""Client id of OSMO's app registration in the simulated tenant, where the stack names none."""
Find = Callable[[str], Json | None]
"""The object at a path of the API."""


@dataclass(frozen=True)
class Configuration:
    """`here` tells whether the control plane is in this cluster, or elsewhere."""

    here: bool
    login: Literal["entra", "dev"]
    audience: str
    roles: Mapping[str, Role]
    pools: Mapping[str, Any] = field(default_factory=dict[str, Any])


def declared(find: Find) -> Configuration:
    """By the objects in the cluster.

    A control plane elsewhere has an operator of its own, who has applied the stack's values and has given the group of
    the simulation's deployers the role of a user.
    """
    service = find(f"/apis/apps/v1/namespaces/{CONTROL_NAMESPACE}/deployments/osmo-service")
    held = find(f"/api/v1/namespaces/{CONTROL_NAMESPACE}/configmaps/{VALUES}")
    values = _values(at(held, "data", {}) if held is not None else {})
    configs = _map(_map(values.get("services")).get("configs"))
    configured = {name: dict(_map(given)) for name, given in _map(configs.get("roles")).items()}
    envoy = _map(_map(values.get("gateway")).get("envoy"))
    here = service is not None
    if not here:
        external = configured.setdefault(USER, {})
        external.setdefault("external_roles", [USER, DEPLOYERS.object_id])
    return Configuration(
        here=here,
        login="dev" if _map(envoy.get("defaultIdentity")).get("user") else "entra",
        audience=str(_map(_map(values.get("gateway")).get("oauth2Proxy")).get("clientId") or APPLICATION),
        roles=roles_of(configured),
        pools=_map(configs.get("pools")),
    )


def _values(files: Mapping[str, str]) -> dict[str, Any]:
    """The files of values, merged as Helm merges several."""
    merged: dict[str, Any] = {}
    for text in files.values():
        document = yaml.safe_load(text)
        merged = _merge(merged, _map(document))
    return merged


def _merge(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in top.items():
        below = merged.get(key)
        merged[key] = _merge(_map(below), _map(value)) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged


def _map(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
