"""Rules about pools whose GPUs Pods get by resource claims: required versions and drivers, and settings that have no
effect on such pools.
"""

from __future__ import annotations

from collections.abc import Iterator

from parts.dra import facts
from parts.dra.names import OLDEST_DRIVER, OLDEST_MINOR
from physical_ai.catalog import UnknownName, operator_release
from physical_ai.catalog.gpu_lookup import version
from physical_ai.citations import changed_in
from physical_ai.planning.gpu_admission import MUTATION_MINOR
from physical_ai.settings.facts import gpu as gpu_facts
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import Rule, SettingFinding, Trust, error, warning

_RELEASE: Path = ("gpuOperator", "version")
_VERSIONS: tuple[Path, ...] = (("cluster", "kubernetesVersion"), ("cluster", "nodesVersion"))
BACK = "allocation: devicePlugin."
GRID = Rule("dra-grid", "kubernetes-sigs/dra-driver-nvidia-gpu, supported platforms; Azure/AKS#5785")
DEVICE = Rule("dra-device", "parts/dra/claim_devices.yaml")
MIG = Rule("dra-mig", "kubernetes-sigs/dra-driver-nvidia-gpu, feature gate DynamicMIG")
SHARING = Rule("dra-sharing", "kubernetes-sigs/dra-driver-nvidia-gpu, GpuConfig")
AUTOSCALER = Rule(
    "dra-autoscaler",
    "kubernetes/autoscaler processors/customresources/gpu_processor.go; --enable-dynamic-resource-allocation",
)
DRIVER = Rule("dra-driver", "Azure/AKS#5785")
KUBERNETES = Rule("dra-kubernetes", "Kubernetes 1.34 release notes, resource.k8s.io/v1")
LABEL_LOST = Rule("dra-label-lost", "NVIDIA/gpu-operator#2288")
RELEASE = Rule("dra-operator", "NVIDIA/cloud-native-docs, platform-support")
VALIDATOR = Rule("dra-validator", "NVIDIA/gpu-operator#2550, #2686")
OSMO = Rule("dra-osmo", "NVIDIA/OSMO, resource requests; KEP-5004, DRA extended resources; KAI Scheduler")
ROOT = Rule("dra-driver-root", "kubernetes-sigs/dra-driver-nvidia-gpu values.yaml, nvidiaDriverRoot")


def check_dra(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about pools whose GPUs are claimed.

    `claim_rules` has the rules about the claims themselves.
    """
    pools = {
        name: pool
        for name, pool in facts.claim_pools(settings).items()
        if trust(("pools", name)) and gpu_facts.knows_gpu(pool)
    }
    for name, pool in pools.items():
        yield from _pool(name, pool)
        yield from _driver(name, pool, settings, trust)
        if trust(*_VERSIONS):
            yield from _kubernetes(name, settings)
        if trust(_RELEASE):
            yield from _release(name, settings)
        yield from _others(name, settings, trust)
    yield from _roots(pools, settings)


def here(name: str) -> Path:
    return ("pools", name, "allocation")


def _pool(name: str, pool: Pool) -> Iterator[SettingFinding]:
    path = here(name)
    if pool.driver.is_grid or gpu_facts.is_vgpu(pool):
        problem = f"No source confirms that the DRA driver works with the vGPUs of {pool.sku} and their GRID driver."
        yield error(path, problem, BACK, others=(("pools", name, "sku"),), rule=GRID)
    elif facts.device_of(pool) is None:
        problem = f"How the DRA driver describes the GPU of {pool.sku} is not known."
        fix = f"{BACK[:-1]}, or a row in {changed_in('parts/dra/claim_devices.yaml')}."
        yield error(path, problem, fix, others=(("pools", name, "sku"),), rule=DEVICE)
    for kind in facts.plugin_sharing(pool):
        others: tuple[Path, ...] = (("pools", name, "sharing", kind),)
        if kind == "mig":
            problem = "That the DRA driver offers MIG instances which the MIG manager makes is not verified."
            yield error(path, problem, f"sharing.mig: null, or {BACK}", others=others, rule=MIG)
        else:
            problem = f"Only the device plugin reads sharing.{kind}, and these nodes have none."
            fix = f"sharing.{kind}: null, and timeSlice in dra.claims for Pods that share a claim."
            yield error(path, problem, fix, others=others, rule=SHARING)
    if pool.scale.is_autoscaled:
        problem = (
            "The autoscaler adds no node for a claim, and takes a GPU node without nvidia.com/gpu for one that does not"
            " start, which it deletes after autoscaler.maxNodeProvisionMinutes."
        )
        fix = f"scale.count in place of min and max, or {BACK}"
        yield error(path, problem, fix, others=(("pools", name, "scale"),), rule=AUTOSCALER)


def _driver(name: str, pool: Pool, settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    if not trust(("gpuOperator", "driver")):
        return
    built = gpu_facts.driver_version(settings, pool)
    others: tuple[Path, ...] = (("pools", name, "driver"), ("gpuOperator", "driver", "version"))
    if built is None:
        problem = f"The node image decides the driver; the DRA driver needs {OLDEST_DRIVER} or later."
        yield warning(here(name), problem, "Compare the release notes of the node image.", others=others, rule=DRIVER)
    elif version(built) < version(OLDEST_DRIVER)[: len(version(built))]:
        problem = f"The DRA driver needs NVIDIA driver {OLDEST_DRIVER} or later, not {built}."
        yield error(here(name), problem, f"A later driver.version, or {BACK}", others=others, rule=DRIVER)


def _kubernetes(name: str, settings: Settings) -> Iterator[SettingFinding]:
    cluster = settings.cluster
    oldest = min(cluster.kubernetes_version, cluster.pools_version, key=version)
    minor = version(oldest)[1]
    if minor < OLDEST_MINOR:
        problem = f"Resource claims need Kubernetes 1.{OLDEST_MINOR}, not {oldest}."
        fix = f'kubernetesVersion "1.{OLDEST_MINOR}" or later, or {BACK}'
        yield error(here(name), problem, fix, others=_VERSIONS, rule=KUBERNETES)
    elif minor < MUTATION_MINOR:
        problem = (
            "The GPU Operator may put its device plugin on a node that has just joined, beside the DRA driver: it takes"
            f" the label away that prevents it, and before Kubernetes 1.{MUTATION_MINOR} no policy puts it back."
        )
        fix = f'kubernetesVersion "1.{MUTATION_MINOR}"; physai gates shows such nodes.'
        yield warning(here(name), problem, fix, others=_VERSIONS, rule=LABEL_LOST)


def _release(name: str, settings: Settings) -> Iterator[SettingFinding]:
    wanted = settings.gpu_operator.version
    try:
        tested = operator_release(wanted).kubernetes
    except UnknownName:
        return  # another rule reports it
    if tested is None or version(tested[1])[1] < OLDEST_MINOR:
        until = f"up to {tested[1]}" if tested is not None else "with no Kubernetes version that is known here"
        problem = f"GPU Operator {wanted} was tested {until}; resource claims need Kubernetes 1.{OLDEST_MINOR}."
        fix = f"GPU Operator v26.3.3 or later, or {BACK}"
        yield error(here(name), problem, fix, others=(_RELEASE,), rule=RELEASE)
    elif gpu_facts.has_device_plugin(settings):
        problem = (
            f"GPU Operator {wanted} validates each node by its device plugin: on these nodes its validator is never"
            " ready, the ClusterPolicy stays notReady, and a driver upgrade ends with upgrade-failed."
        )
        fix = "allocation: dra on all GPU pools of the stack, or a stack of its own for this pool."
        yield warning(here(name), problem, fix, others=(_RELEASE,), rule=VALIDATOR)


def _others(name: str, settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Error if an OSMO platform uses the pool `name`: OSMO's tasks request `nvidia.com/gpu`, which the pool's nodes do
    not offer.
    """
    platform: Path = ("osmo", "platforms", name)
    if name in settings.osmo.platforms and trust(platform):
        problem = (
            f"OSMO cannot use pool {name}: its tasks request nvidia.com/gpu, which a DeviceClass may stand for, but"
            " KAI counts what nodes offer, and these offer no such resource."
        )
        yield error(platform, problem, f"Omit it, or {BACK}", others=(here(name),), rule=OSMO)


def _roots(pools: dict[str, Pool], settings: Settings) -> Iterator[SettingFinding]:
    """Errors of pools whose NVIDIA driver is in different folders: one release of the DRA driver looks in one folder
    on all nodes.
    """
    roots = {name: root for name, root in facts.driver_roots(settings).items() if name in pools}
    first = next(iter(roots), None)
    for name, root in roots.items():
        if first is not None and root != roots[first]:
            problem = f"The DRA driver looks for the driver under {roots[first]} (pool {first}), not {root}."
            others: tuple[Path, ...] = (("pools", name, "driver", "source"),)
            fix = "The same driver.source on all pools with allocation: dra."
            yield error(here(name), problem, fix, others=others, rule=ROOT)
