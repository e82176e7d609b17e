"""What the stand-ins take from the program's catalogue, and what they know from sources of their own.

A belief that is under test has its own row in the stand-in: the program's constant would make both wrong together.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from parts.nvsentinel import names as nvsentinel
from physical_ai.catalog import aks, data_services, private_link, vault_secrets
from physical_ai.catalog.dra import DRIVER as CLAIM_DRIVER
from physical_ai.catalog.dra import claim_devices
from physical_ai.catalog.health_events import XID_CHECK, dcgm_errors
from physical_ai.repository import ROOT
from physical_ai.settings.facts import pools
from simulator.azure import own_facts
from simulator.gpu import dra_names
from simulator.nvsentinel import names as stand_in

SIMULATOR = ROOT / "simulator"
AZURE = {
    (
        "physical_ai",
        "catalog",
    ): "hardware: names, memory and GPUs of sizes, node images; the Ubuntu of a Kubernetes minor",
    ("physical_ai.catalog.aks", "allocatable"): "arithmetic of a node's reservations, from the size's hardware",
    ("physical_ai.catalog.aks", "Role"): "names of built_in_roles.json, whose ids a test compares",
    ("physical_ai.catalog.vendors", "NVIDIA"): "hardware: who makes a GPU",
}
"""Everything that the simulated Azure may import of the catalogue, and why it is shared."""

BELIEFS = {
    "physical_ai.catalog.private_link",
    "physical_ai.catalog.data_services",
    "physical_ai.catalog.azure_identity",
    "physical_ai.catalog.api_versions",
    "physical_ai.catalog.tolerated",
}
"""Modules of the catalogue with what the program believes of Azure."""

SHARED = {
    "physical_ai.catalog": "hardware, offers, versions",
    "physical_ai.catalog.rows": "shape of rows",
    "physical_ai.catalog.vendors": "hardware",
    "physical_ai.catalog.hardware": "hardware",
    "physical_ai.catalog.gpu_load": "hardware",
    "physical_ai.catalog.gpu_lookup": "hardware",
    "physical_ai.catalog.telemetry_rows": "shape of counters",
    "physical_ai.catalog.engine_values": "Pulumi's own marks",
    "physical_ai.catalog.charts": "which archive is the chart",
    "physical_ai.catalog.own_names": "names that this program gives",
}
"""Modules whose facts are hardware, a schema, or this program's own names: shared on purpose."""

OF_OTHERS = {
    "physical_ai.catalog.acceptance",
    "physical_ai.catalog.azure_identity",
    "physical_ai.catalog.compat",
    "physical_ai.catalog.compat.chart_rules",
    "physical_ai.catalog.compat.keys",
    "physical_ai.catalog.compat.tables",
    "physical_ai.catalog.in_cluster",
    "physical_ai.catalog.nccl",
    "physical_ai.catalog.osmo",
    "physical_ai.catalog.osmo_service",
    "physical_ai.catalog.aks",
    "physical_ai.catalog.vault_secrets",
    "physical_ai.catalog.definitions",
    "physical_ai.catalog.nccl_topology",
    "physical_ai.catalog.images",
    "physical_ai.catalog.impact",
    "physical_ai.catalog.runai",
    "physical_ai.catalog.timings",
}
"""Names and beliefs of other parties (NVIDIA, OSMO, Slurm, AKS inside a cluster) that models outside of the simulated
Azure still take from the program. Each that gets a row of its own leaves this list; nothing is added to it."""


def imports(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Module, name and file of each import of the catalogue."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("physical_ai"):
                for name in node.names:
                    if node.module == "physical_ai" and name.name != "catalog":
                        continue
                    if node.module == "physical_ai" or str(node.module).startswith("physical_ai.catalog"):
                        yield str(node.module), name.name, str(path.relative_to(ROOT))


def test_the_simulated_azure_takes_no_belief_from_the_program() -> None:
    unknown = {
        (module, name, file) for module, name, file in imports(SIMULATOR / "azure") if (module, name) not in AZURE
    }
    assert unknown == set(), "write a row of own_facts.json with its own source, or say here why it is shared"


def test_what_it_shares_is_still_needed() -> None:
    assert {(module, name) for module, name, _ in imports(SIMULATOR / "azure")} == set(AZURE)


def test_every_import_of_the_catalogue_is_classified() -> None:
    found = {module if module != "physical_ai" else "physical_ai.catalog" for module, _, _ in imports(SIMULATOR)}
    assert found <= set(SHARED) | OF_OTHERS, "hardware or a schema: SHARED; a belief: a row of the stand-in's own"
    assert not found & (BELIEFS - OF_OTHERS)


def test_every_own_fact_says_how_it_is_known() -> None:
    for name, fact in own_facts.facts().items():
        assert fact.source, name
        assert fact.how in ("seen", "read", "believed"), name
        assert ("recalled" in fact.source) == (fact.how == "believed"), name


@pytest.mark.parametrize(
    ("own", "program"),
    [
        (own_facts.POOL_LABEL, aks.POOL_LABEL),
        (own_facts.SHORT_POOL_LABEL, aks.SHORT_POOL_LABEL),
        (own_facts.IMAGE_LABEL, aks.IMAGE_LABEL),
        (own_facts.SET_BY_AKS, aks.SET_BY_AKS),
        (own_facts.SPOT_LABEL, aks.SPOT_LABEL),
        (own_facts.SPOT_TAINT, aks.SPOT_TAINT),
        (own_facts.VAULT_ADDON, vault_secrets.ADDON),
        (own_facts.GATEWAY_SUBNET, private_link.GATEWAY_SUBNET),
        (own_facts.RESOLVER_DELEGATION, private_link.RESOLVER_DELEGATION),
        (own_facts.POSTGRES_TIERS, data_services.POSTGRES_TIERS),
        (stand_in.DCGM_ERRORS, {code: (each.check, each.action) for code, each in dcgm_errors().items()}),
        (stand_in.XID_CHECK, XID_CHECK),
        (stand_in.QUARANTINE_ANNOTATION, nvsentinel.QUARANTINE_ANNOTATION),
        (stand_in.GPU_NODE_LABEL, nvsentinel.GPU_NODE_LABEL),
        (dra_names.DRIVER, CLAIM_DRIVER),
        (dra_names.CONTAINER_ROOT, pools.CONTAINER_ROOT),
        (
            {
                name: (each.architecture, each.compute_capability, each.memory_mib)
                for name, each in dra_names.DEVICES.items()
            },
            {
                each.product_name: (each.architecture, each.compute_capability, each.memory_mib)
                for each in claim_devices().values()
            },
        ),
    ],
)
def test_program_and_stand_in_agree(own: Any, program: Any) -> None:
    """Where they do not, the sources decide which one is wrong."""
    assert own == program
