"""Facts about a stack for its alerts, dashboards and metrics: the pools, as the labels of nodes and series show them,
and the counters of the DCGM exporter.
"""

from __future__ import annotations

from parts.slurm.names import NAMESPACE as SLURM_NAMESPACE
from physical_ai.catalog import machine
from physical_ai.catalog.aks import SHORT_POOL_LABEL
from physical_ai.catalog.dcgm_health import dcgm_health
from physical_ai.catalog.lookup import price
from physical_ai.catalog.osmo import KAI_NAMESPACE, KAI_QUEUE_LABEL, KAI_SCHEDULER, TASK_LABEL, WORKFLOW_LABEL
from physical_ai.catalog.osmo import OPERATOR_NAMESPACE as OSMO_NAMESPACE
from physical_ai.catalog.vendors import AMD
from physical_ai.settings.facts import gpu as gpu_facts
from physical_ai.settings.facts import health
from physical_ai.settings.facts.fabric import has_infiniband
from physical_ai.settings.facts.node_labels import EXPORTED
from physical_ai.settings.facts.osmo import POD_POOL_LABEL
from physical_ai.settings.facts.pools import gpu_vendor, gpus_per_node
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.target import existing_cluster
from physical_ai.telemetry.amd_counters import amd_series_per_node
from physical_ai.telemetry.counters import Cardinality, exporter_of, fields_for, names_each_pod, series_per_node
from physical_ai.telemetry.parameters import Override, Parameters, PoolFacts

METRIC_LABELS = f"nodes=[{','.join(EXPORTED)}],pods=[{WORKFLOW_LABEL},{TASK_LABEL},{KAI_QUEUE_LABEL},{POD_POOL_LABEL}]"
"""Labels of nodes and Pods that kube-state-metrics exports, in the form of AKS's setting."""


def rule_parameters(settings: Settings) -> Parameters:
    """Values that the alert and recording rules of a stack need. They do not depend on whether the stack evaluates
    rules.
    """
    monitoring, exporter = settings.monitoring, exporter_of(settings.gpu_operator.version)
    return Parameters(
        pools=tuple(_pool(settings, name, pool) for name, pool in settings.pools.items() if gpu_facts.knows_gpu(pool)),
        exporter=exporter,
        counters=frozenset(field.name for field in fields_for(exporter, monitoring.counters)),
        # AKS sets this label; on an existing cluster, where node names follow no rule, the program sets it.
        pool_label=SHORT_POOL_LABEL,
        operator_namespace=gpu_facts.OPERATOR_NAMESPACE,
        osmo_namespace=OSMO_NAMESPACE if settings.osmo.installs_backend else None,
        kai_namespace=KAI_NAMESPACE,
        kai_scheduler=KAI_SCHEDULER,
        azure=existing_cluster(settings) is None,
        slurm_namespace=SLURM_NAMESPACE,
        runbooks=monitoring.runbooks,
        osmo_service=settings.osmo.installs_service,
        quarantines=health.reaches(settings, "taint") and monitoring.metrics == "kube-prometheus",
        overrides={
            name: Override(threshold=own.threshold, enabled=own.enabled) for name, own in monitoring.rules.items()
        },
    )


def shares_of(pool: Pool) -> int:
    """Number of Pods that can share one GPU, or one MIG instance, of the pool; 1 without time-slicing and MPS."""
    shared = pool.sharing.time_slicing or pool.sharing.mps
    return shared.replicas if shared is not None else 1


def has_series_for_each_pod(settings: Settings) -> bool:
    """True where the DCGM exporter should have separate series for each Pod that shares a GPU: some pool shares GPUs,
    and the exporter supports it.
    """
    shares = any(shares_of(pool) > 1 for pool in settings.pools.values() if gpu_facts.knows_gpu(pool))
    return settings.monitoring.is_measured and shares and names_each_pod(exporter_of(settings.gpu_operator.version))


def series_per_pool(settings: Settings) -> dict[str, Cardinality]:
    """Number of GPU series for one node of each pool; empty where nothing collects metrics."""
    if not settings.monitoring.is_measured:
        return {}
    exporter = exporter_of(settings.gpu_operator.version)
    fields = fields_for(exporter, settings.monitoring.counters)
    return {
        pool.name: amd_series_per_node(pool.gpus) if pool.amd else series_per_node(pool, fields, exporter)
        for pool in rule_parameters(settings).pools
    }


def gpu_hour_usd(settings: Settings, pool: Pool) -> float | None:
    """List price of a node per hour in USD, divided by the number of its GPU resources; None without a price."""
    listed = price(pool.sku, settings.region)
    if listed is None:
        return None
    return listed.usd_per_hour / (sum(gpu_facts.gpu_resources(pool).values()) or gpus_per_node(pool))


def has_nvlink_switches(pool: Pool) -> bool:
    """True where the GPUs are on a board with NVLink switches, on which all links should be up."""
    gpu = machine(pool.sku).gpu
    return gpu is not None and gpu.pci in dcgm_health().switched


def _pool(settings: Settings, name: str, pool: Pool) -> PoolFacts:
    gpus, mig = gpus_per_node(pool), pool.sharing.mig
    return PoolFacts(
        name=name,
        # Devices for claims are not among the node resources that kube-state-metrics reports.
        resources={} if pool.uses_claims else gpu_facts.offered(settings, pool),
        gpus=gpus,
        most=pool.scale.most,
        least=pool.scale.least,
        usd=gpu_hour_usd(settings, pool),
        autoscaled=pool.scale.is_autoscaled,
        virtual=gpu_facts.is_vgpu(pool),
        grid=pool.driver.is_grid,
        instances=gpus * sum(mig.profiles.values()) if mig is not None else 0,
        shares=shares_of(pool),
        # The program configures no RDMA for AMD GPUs.
        nvlink=has_nvlink_switches(pool),
        infiniband=has_infiniband(pool) and gpu_vendor(pool) is not AMD,
        claims=pool.uses_claims,
        amd=gpu_vendor(pool) is AMD,
    )
