"""Cases of alerts about pending Pods, full pools and the schedulers."""

from __future__ import annotations

from tests.support.alert_cases.case import Case
from tests.support.alert_series import H100, KAI, LISTENER, WORKER, always, joined, of, phase, then

WAITING = {
    phase('namespace="osmo-workflows",pod="waits"', "Pending"): then(0, 10, 1),
    'kube_pod_container_resource_requests{namespace="osmo-workflows",pod="waits",container="task",'
    'resource="nvidia_com_gpu"}': always(1),
}
ON_CPU = {
    phase('namespace="osmo-workflows",pod="waits"', "Pending"): always(1),
    'kube_pod_container_resource_requests{namespace="osmo-workflows",pod="waits",resource="cpu"}': always(1),
}
SECOND = {name: always(value) for name, value in joined("aks-h100gpu-1-vmss000001", "h100gpu")}
ALLOCATABLE = of("kube_node_status_allocatable", H100, resource="nvidia_com_gpu", unit="integer")
CASES = (
    Case("GPUPodPending", 31, WAITING, labels={"pod": "waits"}),
    Case("GPUPodPending", 60, ON_CPU),
    Case("GPUPoolAtMaximum", 26, {**WAITING, **SECOND}, labels={"pool": "h100gpu", "severity": "info"}),
    Case("GPUPoolAtMaximum", 60, {**SECOND, ALLOCATABLE: always(1)}),
    Case("OsmoAgentDown", 21, {phase(LISTENER, "Running"): then(1, 10, 0)}, labels={"severity": "critical"}),
    Case("OsmoAgentDown", 21, {phase(WORKER, "Running"): then(1, 10, 0)}, labels={"severity": "critical"}),
    Case("OsmoAgentDown", 15, {phase(LISTENER, "Running"): then(1, 10, 0)}),
    Case("KaiSchedulerDown", 21, {phase(KAI, "Running"): then(1, 10, 0)}, labels={"severity": "critical"}),
    Case("KaiSchedulerDown", 60, {phase('namespace="kai-scheduler",pod="admission-0"', "Running"): always(0)}),
)
