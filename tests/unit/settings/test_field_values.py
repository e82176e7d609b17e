"""Files of values in the forms that other projects have, on a stack of this one: what of each is said, and no more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from parts.registry import PARTS
from physical_ai.planning.plan import make_plan
from physical_ai.settings import Fault, SettingsError
from tests.support.covering_stacks import derived

FILES = {
    "backend-operator": "osmo/backend-operator.yaml",
    "service": "osmo/service.yaml",
    **{chart: f"{part.name}/{chart}-values.yaml" for part in PARTS for chart in part.charts},
}
AROUND = "requests: {cpu: 100m, memory: 128Mi}"
KINDS: dict[str, tuple[str, str, set[str]]] = {
    "a discovery that another release brings": (
        "gpu-operator",
        "nfd: {enabled: false}\ndriver: {enabled: true}\ntoolkit: {enabled: true}\n",
        {"nfd.enabled", "driver.enabled"},
    ),
    "a toolkit and a driver of the node image": (
        "gpu-operator",
        "driver: {enabled: false}\ntoolkit: {enabled: false}\ncdi: {enabled: true, default: true}\n",
        {"driver.enabled", "toolkit.enabled", "cdi"},
    ),
    "GPUDirect RDMA with the drivers of the Network Operator": (
        "gpu-operator",
        "nfd: {enabled: false}\ndriver: {rdma: {enabled: true, useHostMofed: false}}\ngds: {enabled: true}\n",
        {"nfd.enabled", "driver.rdma"},
    ),
    # As Azure/ai-infrastructure-on-azure, infrastructure_references/aks/configs and scripts/deploy-aks.sh, has them.
    "GPUDirect RDMA on Azure, with operands switched off that are not needed": (
        "gpu-operator",
        "nfd: {enabled: false}\ndriver: {rdma: {enabled: true}}\nmigManager: {enabled: false}\n"
        "vgpuDeviceManager: {enabled: false}\nvfioManager: {enabled: false}\nsandboxDevicePlugin: {enabled: false}\n"
        "dcgmExporter: {serviceMonitor: {enabled: true, additionalLabels: {release: prometheus}}}\n",
        {"nfd.enabled", "driver.rdma", "migManager.enabled"},
    ),
    "devices by claims, with the eviction label of their plugin": (
        "gpu-operator",
        "devicePlugin: {enabled: false}\n"
        "driver: {manager: {env: [{name: NODE_LABEL_FOR_GPU_POD_EVICTION, value: a}]}}\n",
        {"devicePlugin.enabled", "driver.manager.env"},
    ),
    "a DRA driver told where the GPU driver is": (
        "dra-driver-nvidia-gpu",
        "nvidiaDriverRoot: /run/nvidia/driver\ngpuResourcesEnabledOverride: true\n"
        "kubeletPlugin: {nodeSelector: {nvidia.com/gpu.present: 'true'}}\n",
        {"nvidiaDriverRoot", "gpuResourcesEnabledOverride", "kubeletPlugin.nodeSelector"},
    ),
    "a network operator without rules for features": (
        "network-operator",
        "nfd: {deployNodeFeatureRules: false}\n",
        set(),
    ),
    "shares by a ConfigMap of its own": (
        "gpu-operator",
        "devicePlugin: {config: {name: time-slicing, default: any}}\ngfd: {enabled: true}\n",
        {"devicePlugin.config"},
    ),
    "instances by a strategy for all nodes": (
        "gpu-operator",
        "mig: {strategy: mixed}\nmigManager:\n  enabled: true\n  config: {name: mig}\n"
        "  env: [{name: WITH_REBOOT, value: 'true'}]\n",
        {"mig.strategy", "migManager.enabled", "migManager.config"},
    ),
    "virtual machines with vGPUs": (
        "gpu-operator",
        "sandboxWorkloads: {enabled: true, defaultWorkload: vm-vgpu}\n"
        "vgpuManager: {enabled: true, image: vgpu-manager}\n",
        {"sandboxWorkloads.enabled", "sandboxWorkloads.defaultWorkload"},
    ),
    "tolerations at each operand": (
        "gpu-operator",
        "driver: {tolerations: []}\ntoolkit: {tolerations: []}\n"
        "operator: {tolerations: []}\ndaemonsets: {tolerations: []}\n",
        {"driver.tolerations", "toolkit.tolerations", "operator.tolerations", "daemonsets.tolerations"},
    ),
    "precompiled drivers of another version": (
        "gpu-operator",
        "driver: {usePrecompiled: true, version: '580', repository: mirror.example.com/nvidia}",
        {"driver.usePrecompiled", "driver.version", "driver.repository"},
    ),
    "a RuntimeClass of its own, for K3s": (
        "gpu-operator",
        "operator: {runtimeClass: gpu}\ntoolkit:\n  env:\n"
        "    - {name: CONTAINERD_SOCKET, value: /run/k3s/containerd/containerd.sock}\n"
        "    - {name: CONTAINERD_RUNTIME_CLASS, value: gpu}\n",
        {"operator.runtimeClass", "toolkit.env.CONTAINERD_RUNTIME_CLASS"},
    ),
    "metrics by a monitor, with more memory": (
        "gpu-operator",
        f"dcgmExporter: {{serviceMonitor: {{enabled: true}}, resources: {{{AROUND}}}}}\n"
        f"operator: {{resources: {{{AROUND}}}}}",
        set(),
    ),
    "a discovery of a few nodes only": (
        "gpu-operator",
        "node-feature-discovery:\n  worker: {nodeSelector: {gpu: 'true'}, config: {core: {labelSources: [pci]}}}\n",
        {
            "node-feature-discovery.worker.nodeSelector",
            "node-feature-discovery.worker.config.core.labelSources",
        },
    ),
    "a Prometheus of two weeks, with a shorter name of Grafana": (
        "kube-prometheus-stack",
        "grafana: {fullnameOverride: grafana, persistence: {enabled: true}}\n"
        "prometheus: {prometheusSpec: {retention: 14d}}\n",
        {"prometheus.prometheusSpec"},
    ),
    "alerts to a chat": (
        "kube-prometheus-stack",
        "alertmanager: {config: {route: {receiver: chat}}}\n"
        "grafana: {adminPassword: word}\nnodeExporter: {enabled: true}\n",
        {"alertmanager.config", "grafana.adminPassword", "nodeExporter.enabled"},
    ),
    "a scheduler placed by keys of the top level": (
        "kai-scheduler",
        "nodeSelector: {pool: cpu}\ntolerations: []\nresources: {}\nscheduler: {enabled: true}\n",
        {"nodeSelector", "tolerations", "resources"},
    ),
    "a scheduler with fractions of GPUs": (
        "kai-scheduler",
        "global: {gpuSharing: true}\nscheduler: {args: {v: '5'}}\nbinder: {resources: {}}\n",
        {"global.gpuSharing"},
    ),
    "a control plane behind an Ingress": (
        "service",
        "services:\n  postgres: {serviceName: db.example.com}\n  service: {hostname: osmo.example.com, ingress: {}}\n",
        {"services.postgres", "services.service.hostname", "services.service.ingress"},
    ),
    "agents with sidecars": (
        "backend-operator",
        "sidecars: {fluentd: {}}\n"
        "global: {serviceUrl: http://osmo, logs: {logLevel: DEBUG}}\nservices: {backendWorker: {}}\n",
        {"sidecars", "global.serviceUrl"},
    ),
}


def faults_of(folder: Path, chart: str, text: str) -> list[Fault]:
    """What a file of a chart may not have, on a stack that installs it."""
    file = folder / "values" / FILES.get(chart, f"{chart}/values.yaml")
    file.parent.mkdir(parents=True)
    file.write_text(text)
    try:
        make_plan(derived()[chart][0][0], folder / "values")
    except SettingsError as error:
        return error.faults
    return []


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_in_the_form_of_another_project_is_refused_for_what_would_not_work(tmp_path: Path, kind: str) -> None:
    chart, text, expected = KINDS[kind]
    faults = faults_of(tmp_path, chart, text)
    assert all(fault.line is not None and fault.fix for fault in faults)
    found = {fault.where for fault in faults}
    assert {path for path in expected if not any(same(path, each, text) for each in found)} == set()
    assert {each for each in found if not any(same(path, each, text) for path in expected)} == set()


def same(expected: str, found: str, text: str) -> bool:
    """An entry of a list is found by its index, and expected by its name."""
    if "[" not in found:
        return found == expected
    whole, _, index = found.rstrip("]").partition("[")
    data: Any = yaml.safe_load(text)
    for step in whole.split("."):
        data = data[step]
    return f"{whole}.{data[int(index)]['name']}" == expected
