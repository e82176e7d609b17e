"""Stacks that together install every chart, and use every way in which the program sets a chart's values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from parts.cert_manager.plan import CertManagerPlan
from parts.registry import PARTS
from parts.slurm.names import TAINT
from physical_ai.planning.plan import Plan, make_plan
from physical_ai.settings import Overlay, Settings, load
from tests.support import amd_settings
from tests.support.dra_settings import ALONE, CLAIMS, POOL
from tests.support.gpu_settings import H100, RTX
from tests.support.stacks import STACKS

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 ada@example.com"
ENTRA = {"tenantId": "aaaaaaaa-0000-4000-8000-00000000000a", "clientId": "aaaaaaaa-0000-4000-8000-00000000000b"}
ZONE = (
    "/subscriptions/0b1f6471-1bf0-4dda-aec3-111122223333/resourceGroups/rg-dns"
    "/providers/Microsoft.Network/dnsZones/contoso.com"
)
ACCESS: dict[str, Any] = {
    "host": "osmo.contoso.com",
    "tls": {"source": "stack"},
    "entra": ENTRA,
    "roles": {"osmo-user": ["aaaaaaaa-0000-4000-8000-000000000001"]},
    "adminPasswordGeneration": 2,
    "cookieKeyGeneration": 2,
}
RUNNERS = {
    "configUrl": "https://github.com/contoso",
    "app": {"clientId": "Iv23liABCDEF", "installationId": "51234567"},
    "pool": {"sku": "Standard_D4ds_v5", "scale": {"min": 0, "max": 2}, "zones": ["1", "2", "3"]},
    "group": "robots",
}
FABRIC = (
    "pools.ndgpu={sku: Standard_ND96isr_H100_v5, driver: {source: operator}, subnet: 10.40.3.0/26, priority: Regular,"
    " fabric: infiniband, scale: {count: 2}}"
)
FIXED = {"count": 2, "min": None, "max": None, "initial": None}
MIG = "{mig: {strategy: single, profiles: {1g.12gb: 7}}}"
PARAMETERS = "{nvidia: {NVreg_EnableGpuFirmware: '1'}}"


def platform(access: Mapping[str, Any], **data: Any) -> dict[str, Any]:
    return {"dataServices": {"source": "azure", **data}, "osmo": {"mode": "platform", "access": access}}


OVERLAYS: tuple[tuple[str, dict[str, Any] | tuple[str, ...]], ...] = (
    ("dev-westus2", (f"{H100}.sharing={MIG}", f"{RTX}.sharing={{timeSlicing: {{replicas: 2}}}}")),
    ("dev-westus2", (f"{RTX}.sharing={{timeSlicing: {{replicas: 2}}}}", "monitoring.metrics=azure")),
    ("dev-westus2", (f"{RTX}.sharing={{timeSlicing: {{replicas: 2, rename: true}}}}", "monitoring.metrics=azure")),
    ("dev-westus2", ("gpuOperator.nri=true", "gpuOperator.toolkit.version=1.19.0")),
    ("dev-westus2", ("gpuOperator.driverOwner=ClusterPolicy", f"{H100}.driver.moduleParameters={PARAMETERS}")),
    ("dev-westus2", (*ALONE, CLAIMS)),
    ("dev-westus2", POOL),
    ("dev-westus2", (FABRIC, "networkOperator={}", "monitoring.metrics=kube-prometheus")),
    ("dev-westus2", ("monitoring.traces={endpoint: 'https://otlp.contoso.com', headerSecrets: {api-key: key}}",)),
    ("dev-westus2", ("monitoring.metrics=azure", "health.mode=drain", "health.datastoreSecret=store",
                     f"{H100}.scale={{min: 1, initial: 1}}")),
    ("dev-westus2", ("osmo.mode=backend", "osmo.serviceUrl=https://osmo.example.com", "osmo.login=dev",
                     "monitoring.metrics=azure")),
    ("dev-westus2", {"slurm": {"pools": ["h100gpu"], "login": {"sshKeys": [KEY]}},
                     "pools": {"h100gpu": {"scale": FIXED, "taints": [TAINT]}}}),
    ("dev-westus2", {"storage": {"longhorn": {"defaultClass": False}},
                     "loadBalancer": {"metallb": {"addresses": ["192.168.7.10-192.168.7.20"]}}}),
    ("prod-westeurope", (f"runners={json.dumps(RUNNERS)}",)),
    ("dev-westus2", platform(ACCESS, postgres={"passwordGeneration": 2}, redis={"key": "secondary"})),
    ("dev-westus2", platform({"login": "dev"})),
    ("dev-westus2", platform(ACCESS, source="inCluster", inCluster={"keyGeneration": 2})),
    ("dev-westus2", platform({**ACCESS, "tls": {"source": "certManager", "certManager": {
        "acme": {"email": "osmo@contoso.com", "zoneId": ZONE}}}})),
)  # fmt: skip


def of_parts() -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Examples of the parts, each with its stack and settings, by a name made of the part and a number."""
    named = ((f"part-{part.name}-{number}", each) for part in PARTS for number, each in enumerate(part.examples, 1))
    return dict(named)


@cache
def covering() -> tuple[Settings, ...]:
    """Settings of all covering stacks: the committed ones, those with overlays, the examples of the parts, and a stack
    with AMD's GPUs.
    """
    made = [load(stack).settings for stack in STACKS]
    for stack, given in (*OVERLAYS, *of_parts().values()):
        overlay = Overlay.assign(given) if isinstance(given, tuple) else Overlay("the test", given)
        made.append(load(stack, [overlay]).settings)
    return (*made, amd_settings.mixed_settings())


def plan_without_files(settings: Settings) -> Plan:
    """Plan that contains only the values that the program sets, without a stack's value files."""
    return make_plan(settings, Path("no-values"))


def chart_values(plan: Plan) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Name and values of each chart in a plan."""
    yield "gpu-operator", plan.gpu.values
    releases = [*plan.osmo, *([plan.control_plane] if plan.control_plane is not None else [])]
    yield from ((each.chart.name, each.values) for each in releases)
    for part in plan.parts.values():
        complete = part.with_identity("client") if isinstance(part, CertManagerPlan) else None
        yield from ((each.chart.name, complete or each.values) for each in part.releases)


@cache
def derived() -> Mapping[str, tuple[tuple[Settings, Mapping[str, Any]], ...]]:
    """Stacks that install a chart, by the chart's name; each has the values that the program sets in it."""
    found: dict[str, list[tuple[Settings, Mapping[str, Any]]]] = {}
    for settings in covering():
        for name, values in chart_values(plan_without_files(settings)):
            found.setdefault(name, []).append((settings, values))
    return {name: tuple(each) for name, each in found.items()}
