"""Rules about pools of AMD's GPUs: who installs their driver, and which settings for NVIDIA's GPUs they cannot have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from physical_ai.settings.facts.data_services import DIGITS, DataNames, managed
from physical_ai.settings.facts.gpu import amd_pools
from physical_ai.settings.facts.osmo_access import ACCESS, installs_cert_manager
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import Rule, SettingFinding, Trust, error, warning

_HERE: Path = ("amdGpuOperator",)
_SOURCE = "ROCm/gpu-operator helm-charts-k8s"
DRIVER = Rule("amd-driver", f"{_SOURCE}/README.md")
CERTIFICATES = Rule("amd-cert-manager", f"{_SOURCE}/README.md, prerequisites; charts/kmm")
IMAGE = Rule(
    "amd-driver-image",
    "Kubernetes docs, mutating-admission-policy",
)
SHARING = Rule("amd-sharing", "ROCm/k8s-device-plugin README")
EMPTY = Rule("amd-empty-pool", "kubernetes/autoscaler cluster-autoscaler/cloudprovider/azure/azure_template.go")
OSMO = Rule("amd-osmo", "NVIDIA/OSMO docs, pod templates: default_user requests nvidia.com/gpu")
CHECKS = Rule("amd-acceptance", "physical_ai/catalog/data/acceptance/checks.yaml")


def check_amd(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about AMD's GPUs."""
    pools = amd_pools(settings)
    if trust(_HERE, ("pools",)):
        yield from _operator(settings, pools)
        yield from _certificates(settings, pools, trust)
    if trust((*_HERE, "driver", "image"), ("dataServices",)):
        yield from _driver_image(settings)
    for name, pool in pools.items():
        if trust(("pools", name)):
            yield from _nvidias(name, pool)
            yield from _empty(name, pool)
    for name in pools:
        if name in settings.osmo.platforms and trust(("osmo", "platforms")):
            problem = f"Pool {name} has AMD's GPUs, and OSMO asks for nvidia.com/gpu: it can't be a platform."
            fix = "Leave it out; plain Jobs, also with the scheduler kai-scheduler, request amd.com/gpu."
            yield error(("osmo", "platforms", name), problem, fix, rule=OSMO)
    if pools and settings.health.admit == "accepted" and trust(("health", "admit")):
        problem = (
            f"No check of acceptance is for AMD's GPUs, so the nodes of {', '.join(pools)} would never be accepted."
        )
        yield error(("health", "admit"), problem, "admit: any, or the pool in another stack.", rule=CHECKS)


def _operator(settings: Settings, pools: dict[str, Pool]) -> Iterator[SettingFinding]:
    if settings.amd_gpu_operator is None:
        for name in pools:
            problem = f"Nothing would install the driver of pool {name}: its GPUs are AMD's, which the GPU Operator"
            problem += " of NVIDIA does not know."
            fix = 'amdGpuOperator: {driver: {version: "6.4.3", image: …, …}}; docs/amd.md has all of it.'
            yield error(("pools", name, "sku"), problem, fix, others=(_HERE,), rule=DRIVER)
        return
    if not pools:
        yield warning(_HERE, "No pool has AMD's GPUs.", "amdGpuOperator: null.")


def _certificates(settings: Settings, pools: dict[str, Pool], trust: Trust) -> Iterator[SettingFinding]:
    """Warning that Kernel Module Management, which builds the driver, needs cert-manager in the cluster. There is no
    warning if the stack itself installs cert-manager.
    """
    if settings.amd_gpu_operator is None or not pools or (trust(ACCESS) and installs_cert_manager(settings)):
        return
    problem = (
        "Kernel Module Management, which builds the driver, needs cert-manager in the cluster, and this stack does"
    )
    problem += " not install it: the release fails without."
    fix = "Install cert-manager before the first deployment (docs/amd.md)."
    yield warning(_HERE, problem, fix, rule=CERTIFICATES)


def _driver_image(settings: Settings) -> Iterator[SettingFinding]:
    """Warning where Pods may pull only from the stack's registry, and the setting for the driver image names another
    registry. The image is built in the cluster, so it cannot be imported in advance.
    """
    given, data = settings.amd_gpu_operator, managed(settings)
    if given is None or data is None or not data.registry.only:
        return
    host = given.driver.image.partition("/")[0]
    own = DataNames(settings.stack, "").registry[:-DIGITS]
    if re.fullmatch(rf"{own}[0-9a-f]{{{DIGITS}}}\.azurecr\.io", host):
        return
    problem = f"Pods pull from the stack's own registry only, so none can have a driver that was pushed to {host}."
    fix = "Name a repository of the stack's registry: the output dataServices.registry has its host name."
    others: tuple[Path, ...] = (("dataServices", "registry", "only"),)
    yield warning((*_HERE, "driver", "image"), problem, fix, others=others, rule=IMAGE)


def _nvidias(name: str, pool: Pool) -> Iterator[SettingFinding]:
    """Errors about an AMD pool's settings that are for NVIDIA's GPUs only, such as the driver's version, sharing and
    fabric; and an error if the pool sets Secure Boot.
    """
    driver = pool.driver
    given = {
        "driver.version": driver.version is not None,
        "driver.moduleType": driver.module_type is not None,
        "driver.moduleParameters": bool(driver.module_parameters),
        "driver.upgradePolicy": driver.upgrade_policy is not None,
    }
    for key, is_set in given.items():
        if is_set:
            problem = f"{key} is about NVIDIA's driver; pool {name} has AMD's GPUs."
            yield error(("pools", name, *key.split(".")), problem, "amdGpuOperator.driver.", rule=DRIVER)
    sharing = pool.sharing
    if sharing.time_slicing or sharing.mps or sharing.mig:
        problem = "Time-slicing, MPS and MIG are NVIDIA's: a Pod gets whole AMD GPUs."
        yield error(("pools", name, "sharing"), problem, "Leave sharing out.", rule=SHARING)
    if pool.allocation != "devicePlugin":
        problem = "The driver for resource claims is NVIDIA's; AMD's own is not installed by this project."
        yield error(("pools", name, "allocation"), problem, "allocation: devicePlugin.", rule=SHARING)
    if pool.fabric != "none":
        problem = "The Network Operator is NVIDIA's, and its adapters were never given to Pods with AMD's GPUs here."
        yield error(("pools", name, "fabric"), problem, "fabric: none.", rule=SHARING)
    if pool.secure_boot:
        problem = "The driver that Kernel Module Management builds is not signed, so Secure Boot rejects it."
        yield error(("pools", name, "secureBoot"), problem, "secureBoot: false.", rule=DRIVER)


def _empty(name: str, pool: Pool) -> Iterator[SettingFinding]:
    if pool.scale.is_autoscaled and pool.scale.min == 0:
        problem = (
            "The autoscaler counts the GPUs of any empty pool as nvidia.com/gpu, so no Pod that requests amd.com/gpu"
        )
        problem += " starts the first node."
        yield error(("pools", name, "scale", "min"), problem, "min: 1, or count.", rule=EMPTY)
