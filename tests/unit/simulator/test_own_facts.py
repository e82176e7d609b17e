"""What the stand-ins take from the program's catalogue, and what they know from sources of their own.

A belief that is under test has its own row in the stand-in: the program's constant would make both wrong together.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from parts.dra.devices import claim_devices
from parts.dra.names import DRIVER as CLAIM_DRIVER
from parts.in_cluster_data import names as in_cluster
from parts.nvsentinel import names as nvsentinel
from physical_ai.catalog import (
    aks,
    azure_identity,
    data_services,
    osmo,
    osmo_service,
    private_link,
    vault_secrets,
)
from physical_ai.catalog.health_events import XID_CHECK, dcgm_errors
from physical_ai.repository import ROOT
from physical_ai.settings.facts import pools
from simulator import osmo_names as stand_in_osmo
from simulator.azure import own_facts, reservations
from simulator.gpu import dra_names
from simulator.nvsentinel import names as stand_in
from simulator.scheduling import kai_names
from tests.support.cases import in_one_test

SIMULATOR = ROOT / "simulator"
AZURE = {
    (
        "physical_ai",
        "catalog",
    ): "hardware: names, memory and GPUs of sizes, node images; the Ubuntu of a Kubernetes minor",
    ("physical_ai.catalog.vendors", "NVIDIA"): "hardware: who makes a GPU",
    **{
        ("physical_ai.catalog.seen", name): "observation: what recordings of real clusters have shown"
        for name in ("seen_in_bodies", "seen_of_size")
    },
    **{
        (
            "physical_ai.catalog.azure_native",
            name,
        ): "schema: requests that the provider makes of inputs"
        for name in ("DuplicateEntry", "TypeMapping", "by_arm_type", "by_key", "by_token", "mappings")
    },
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
    "physical_ai.catalog.azure_native": "requests that the provider makes of inputs",
    "physical_ai.catalog.chart_archives": "which archive is the chart",
    "physical_ai.catalog.charts": "which archive is the chart",
    "physical_ai.catalog.own_names": "names that this program gives",
}
"""Modules whose facts are hardware, a schema, or this program's own names: shared on purpose."""

NAMES = {
    ("physical_ai.catalog.acceptance", "CHECK_LABEL"): "name that this program gives",
    ("physical_ai.catalog.acceptance", "TASK_DIAGNOSTIC"): "name that this program gives",
    ("physical_ai.catalog.aks", "ASSIGNED"): "roles that this program lets a pipeline's identity assign",
    ("physical_ai.catalog.compat", "key_table"): "schema: keys of a chart's values, read from the published chart",
    ("physical_ai.catalog.compat", "known_keys"): "schema: keys of a chart's values, read from the published chart",
    ("physical_ai.catalog.compat.chart_rules", "CHOICES"): "schema: values of an enumeration of a custom resource",
    ("physical_ai.catalog.compat.keys", "Kind"): "schema: kinds of keys",
    ("physical_ai.catalog.compat.tables", "choices"): "schema: values of an enumeration of a custom resource",
}
"""Single names of other modules that are shared on purpose, and why."""


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
    found = {
        ("physical_ai.catalog" if module == "physical_ai" else module, name) for module, name, _ in imports(SIMULATOR)
    }
    known = set(SHARED)
    left = {each for each in found if each[0] not in known} - set(NAMES) - set(AZURE)
    assert left == set(), "hardware or a schema: SHARED; a belief: a row of the stand-in's own"
    assert set(NAMES) <= found, "no longer imported"
    assert known <= {module for module, _ in found}, "no longer imported"
    assert not BELIEFS & {module for module, _ in found}


def test_every_own_fact_says_how_it_is_known() -> None:
    for name, fact in own_facts.facts().items():
        assert fact.source, name
        assert fact.how in ("seen", "read", "believed"), name
        assert ("recalled" in fact.source) == (fact.how == "believed"), name


@in_one_test(
    ("own", "program"),
    [
        (own_facts.POOL_LABEL, aks.POOL_LABEL),
        (own_facts.SHORT_POOL_LABEL, aks.SHORT_POOL_LABEL),
        (own_facts.IMAGE_LABEL, aks.IMAGE_LABEL),
        (own_facts.SET_BY_AKS, aks.SET_BY_AKS),
        (own_facts.SPOT_LABEL, aks.SPOT_LABEL),
        (own_facts.SPOT_TAINT, aks.SPOT_TAINT),
        (own_facts.VAULT_ADDON, vault_secrets.ADDON),
        (own_facts.SERVER_ID, aks.SERVER_ID),
        (own_facts.TOKEN_AUDIENCE, azure_identity.TOKEN_AUDIENCE),
        (own_facts.SECRETS_DRIVER, vault_secrets.DRIVER),
        (own_facts.SECRETS_API_VERSION, vault_secrets.API_VERSION),
        (own_facts.SECRETS_KIND, vault_secrets.KIND),
        (own_facts.SECRETS_PLURAL, vault_secrets.PLURAL),
        (own_facts.DISK_DRIVER, in_cluster.AKS_DRIVER),
        (own_facts.SNAPSHOT_API, in_cluster.SNAPSHOT_API),
        (own_facts.SNAPSHOT_VERSION, in_cluster.SNAPSHOT_VERSION),
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


def test_osmo_names_of_program_and_stand_in_agree() -> None:
    program = {**vars(osmo_service), **vars(osmo)}
    own = {name: value for name, value in vars(stand_in_osmo).items() if name.isupper()}
    assert own == {name: program[name] for name in own}


def test_kai_names_of_program_and_stand_in_agree() -> None:
    names = ("CHART", "NAMESPACE", "VERSION", "OPERATOR", "SCHEDULER", "OPERANDS", "QUEUE_API", "POD_GROUP_API")
    program = {name: getattr(osmo, f"KAI_{name}") for name in (*names, "QUEUE_LABEL", "GROUP_ANNOTATION")}
    assert {name: getattr(kai_names, name) for name in program} == program
    assert (kai_names.SCHEDULER_NAME, kai_names.TOPOLOGY_API) == (osmo.SCHEDULER, osmo.KAI_TOPOLOGY)


@pytest.mark.parametrize(
    ("cores", "gib", "pods"), [(1, 4, 70), (2, 8, 30), (16, 64, 110), (40, 320, 110), (96, 1900, 250)]
)
def test_reservations_of_program_and_stand_in_agree(cores: int, gib: int, pods: int) -> None:
    left = aks.allocatable(cores, gib, 128, pods)
    assert reservations.cpu_millis(cores) == left.millis
    assert (reservations.memory_mib(gib, pods), reservations.disk_bytes(128)) == (left.memory_mib, left.disk_bytes)


@pytest.mark.parametrize(
    ("cores", "reserved"), [(1, 60), (2, 100), (4, 140), (8, 180), (16, 260), (32, 420), (64, 740)]
)
def test_reserved_cpu_is_the_table_of_the_documentation(cores: int, reserved: int) -> None:
    assert cores * 1000 - reservations.cpu_millis(cores) == reserved
