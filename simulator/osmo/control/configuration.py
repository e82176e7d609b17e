"""Configuration of the deployed stack's OSMO control plane: roles, pools, and the login of people."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import yaml

from simulator.cluster.objects import Json, at
from simulator.entra import DEPLOYERS
from simulator.osmo.control.policies import USER, Role, roles_of
from simulator.osmo_names import CONTROL_NAMESPACE

VALUES = "osmo-service-values"
"""ConfigMap with the stack's values for the chart `service`, one file for each section."""
CONFIGS, ENVOY = "osmo-service-configs", "osmo-gateway-envoy-config"
"""ConfigMaps of the chart `service`: the service's configuration, and the configuration of its gateway."""
PROCESSES = ("osmo-service", "osmo-gateway-envoy")
"""Deployments without which the control plane does not answer."""
APPLICATION = "5a1e0000-0000-4000-8000-00000000a5a0"
"""Client id of OSMO's app registration in the simulated tenant, for a stack that names none."""
ENTRA = "https://login.microsoftonline.com/"
Find = Callable[[str], Json | None]
"""Function that returns the object at a path of the Kubernetes API; None if there is none."""


@dataclass(frozen=True)
class Configuration:
    """Configuration of a control plane. `here`: True if the control plane is in this cluster."""

    here: bool
    login: Literal["entra", "dev"]
    audience: str
    roles: Mapping[str, Role]
    pools: Mapping[str, Any] = field(default_factory=dict[str, Any])
    file: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """All sections of the configuration file that the service reads."""
    agents: str = ""
    """Annotations of the osmo-agent Pods of a control plane outside this cluster. If the annotations change, those Pods
    have been replaced.
    """
    requests_per_minute: int = 0
    """Number of requests per minute that one caller may send; 0 for any number."""
    waits: str = ""
    """Reason why the control plane does not answer: a process of it that is not available. Empty if it answers."""


def declared(find: Find) -> Configuration:
    """The control plane's configuration, from the objects in the cluster."""
    service = find(f"/apis/apps/v1/namespaces/{CONTROL_NAMESPACE}/deployments/{PROCESSES[0]}")
    return _elsewhere(find) if service is None else _here(find)


def _elsewhere(find: Find) -> Configuration:
    """Configuration of a control plane outside this cluster.

    The operator of that control plane is assumed to have applied the stack's values, and to have given OSMO's user role
    to the group of the simulation's deployers.
    """
    values: dict[str, Any] = {}
    for text in _data(find, VALUES).values():
        values = _merge(values, _map(yaml.safe_load(text)))
    configs = _map(_map(values.get("services")).get("configs"))
    configured = {name: dict(_map(given)) for name, given in _map(configs.get("roles")).items()}
    configured.setdefault(USER, {}).setdefault("external_roles", [USER, DEPLOYERS.object_id])
    return Configuration(
        here=False,
        login="entra",
        audience=APPLICATION,
        roles=roles_of(configured),
        pools=_map(configs.get("pools")),
        file=configs,
        agents=str(_map(_map(_map(values.get("services")).get("agent")).get("extraPodAnnotations"))),
    )


def _here(find: Find) -> Configuration:
    """Configuration of a control plane in this cluster, from the objects that the chart renders from the stack's
    values.
    """
    configs = _map(yaml.safe_load(_data(find, CONFIGS).get("config.yaml", "")))
    listener = _map(yaml.safe_load(_data(find, ENVOY).get("lds.yaml", "")))
    providers = [_map(each) for each in listener.get("providers") or ()]
    audiences = [str(each.get("audience")) for each in providers if str(each.get("issuer", "")).startswith(ENTRA)]
    waiting = [name for name in PROCESSES if not _runs(find, name)]
    return Configuration(
        here=True,
        login="dev" if _map(listener.get("default_identity")).get("user") else "entra",
        audience=audiences[0] if audiences else APPLICATION,
        roles=roles_of({name: _map(given) for name, given in _map(configs.get("roles")).items()}),
        pools=_map(configs.get("pools")),
        file=configs,
        requests_per_minute=_limit(listener),
        waits=f"{waiting[0]} is not available" if waiting else "",
    )


def _limit(listener: Mapping[str, Any]) -> int:
    """Requests per minute that the Lua code in the API's Envoy routes allows, read from the code's text; 0 if there is
    no limit.
    """
    match = re.search(r"local per_minute\b[^=]*= (\d+)", str(listener.get("routes") or ""))
    return int(match[1]) if match else 0


def _runs(find: Find, name: str) -> bool:
    found = find(f"/apis/apps/v1/namespaces/{CONTROL_NAMESPACE}/deployments/{name}")
    return found is not None and int(at(found, "status.availableReplicas", 0)) > 0


def _data(find: Find, name: str) -> Mapping[str, str]:
    found = find(f"/api/v1/namespaces/{CONTROL_NAMESPACE}/configmaps/{name}")
    return {} if found is None else at(found, "data", {})


def _merge(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    """Result of merging two values files, as Helm does it."""
    merged = dict(base)
    for key, value in top.items():
        below = merged.get(key)
        merged[key] = _merge(_map(below), _map(value)) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged


def _map(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
