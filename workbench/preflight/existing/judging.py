"""All findings about an existing cluster that a stack is to be installed in. Pure functions of settings and read
objects.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass

from physical_ai.catalog.hardware import servers
from physical_ai.findings import Finding
from physical_ai.settings import Settings
from workbench.preflight.existing.machines import judge_machines
from workbench.preflight.existing.objects import selects, unknown
from workbench.preflight.existing.owners import judge_owners
from workbench.preflight.existing.reading import Found
from workbench.preflight.existing.software import (
    judge_cgroups,
    judge_gateway,
    judge_kernel,
    judge_kubernetes,
    judge_runtime,
)
from workbench.preflight.existing.structure import judge_addresses, judge_availability, judge_storage


@dataclass(frozen=True)
class Wanted:
    """Requirements of a stack on an existing cluster: its settings, and the label selectors of its pools' nodes."""

    settings: Settings
    selectors: Mapping[str, Mapping[str, str]]
    """Label selectors of the pools' nodes, by the pool's name."""


def judge_cluster(wanted: Wanted, found: Found, today: datetime.date) -> list[Finding]:
    """All findings about the cluster. The text of each finding says what it means for the stack."""
    settings = wanted.settings
    findings = [unknown("rights", path, "No permission to read it: it was not checked.") for path in found.refused]
    if found.nodes is None:
        return findings
    findings += judge_kubernetes(found.nodes, settings.gpu_operator.version, today)
    classes = {
        pool: [node for node in found.nodes if selects(selector, node)] for pool, selector in wanted.selectors.items()
    }
    of_pools = [node for node in found.nodes if any(node in members for members in classes.values())]
    if of_pools:
        findings += judge_runtime(of_pools, nri=settings.gpu_operator.nri)
        if settings.osmo.installs_service and settings.osmo.access.tls is not None:
            findings += judge_gateway(of_pools)
        findings += [*judge_kernel(of_pools), *judge_cgroups(of_pools)]
    findings += judge_availability(found)
    findings += judge_storage(found, settings.storage.longhorn)
    findings += judge_addresses(found, settings.load_balancer.metallb)
    for name, members in classes.items():
        server = servers().get(settings.pools[name].sku)
        if server is None:
            where = f"pools.{name}"
            findings.append(unknown("class", where, f"{settings.pools[name].sku} is not a server of the catalogue."))
        else:
            findings += judge_machines(name, server, members, found.evidence)
    return [*findings, *judge_owners(found, classes, settings.pools)]
