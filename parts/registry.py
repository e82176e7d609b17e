"""The list of all optional parts, in the order in which a stack declares them."""

from __future__ import annotations

from parts.amd.part import AMD
from parts.cert_manager.part import CERT_MANAGER
from parts.cluster_services.part import CLUSTER_SERVICES
from parts.kube_prometheus.part import KUBE_PROMETHEUS
from parts.network_operator.part import NETWORK_OPERATOR
from parts.nvsentinel.part import NVSENTINEL
from parts.part import Part
from parts.runners.part import RUNNERS
from parts.slurm.part import SLURM
from parts.traces.part import TRACES

PARTS: tuple[Part, ...] = (
    CLUSTER_SERVICES,
    KUBE_PROMETHEUS,
    TRACES,
    RUNNERS,
    CERT_MANAGER,
    NETWORK_OPERATOR,
    NVSENTINEL,
    AMD,
    SLURM,
)
