"""Components of the parts that declare more than releases, and objects before and after them."""

from __future__ import annotations

from collections.abc import Mapping

from components.kubernetes.chart_part import ChartPart
from parts.amd.component import AmdOperator
from parts.cert_manager.component import CertManager
from parts.cluster_services.component import ClusterServices
from parts.kube_prometheus.component import KubePrometheus
from parts.network_operator.component import NetworkOperator
from parts.runners.component import Runners

COMPONENTS: Mapping[str, type[ChartPart]] = {
    "cluster_services": ClusterServices,
    "cert_manager": CertManager,
    "amd": AmdOperator,
    "kube_prometheus": KubePrometheus,
    "runners": Runners,
    "network_operator": NetworkOperator,
}
"""By the part's name; every other part is a `ChartPart`."""
