"""Facts about OSMO that follow from the pools: platforms, and the largest requests of a task on each. Pure functions.

Platforms, quotas, the workflow check and its documentation all use these facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from parts.slurm.facts import is_slurms
from physical_ai.catalog import Gpu, machine
from physical_ai.catalog.aks import SHORT_POOL_LABEL
from physical_ai.catalog.own_names import PLATFORM_LABEL
from physical_ai.settings.facts.capacity import is_first, members
from physical_ai.settings.facts.gpu import gpu_resources, knows_gpu, nvidia_pools
from physical_ai.settings.facts.node_room import Room, room
from physical_ai.settings.facts.pools import CPU_POOL, tolerations, tolerations_for
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.osmo import OsmoPlatform
from physical_ai.settings.models.tree import Settings

CPU_PLATFORM = "cpu"
"""Name of the OSMO platform for tasks without a GPU, which run on the cpu pool."""

AGENT_TOKEN = "osmoAgentToken"  # noqa: S105 - a name
"""Name of the stack's secret with the token of OSMO's agents."""

MANAGED_LABEL = "physical-ai/osmo-backend"
"""Label of the Secret of OSMO's agents in clusters where a deployment of this project installed the agents. Only agents
with this label are removed in order when the stack is destroyed.
"""

POD_POOL_LABEL = "physical-ai/pool"
"""Label of workflow Pods with the name of the node pool that they request. It is present even while a Pod waits for a
node.
"""

WAITING_FACTOR = 4
"""Default GPU quota of workflows, as a multiple of the pools' GPUs."""

DEFAULT_GRACE_SECONDS = 60
"""Default grace period of tasks in seconds.

Kubernetes' default, 30 s, is too short for a checkpoint of some gigabytes (NVIDIA/OSMO#764).
"""

_FAMILIES = {"rtx": 2, "tesla": 1}
"""Number of words at the beginning of a GPU's name that form the name of its family, by the first word: two words for
`rtx pro 6000`. A first word that is not listed is the whole name of the family.
"""


@dataclass(frozen=True)
class OsmoPlatformFacts:
    """Facts about an OSMO platform, which follow from its pool."""

    name: str
    pool: str
    """Name of the node pool."""
    resource: str | None
    """Resource that a task requests with `gpu`; None without GPUs."""
    per_node: int
    """Number of GPUs on a node, in units of `resource`; 0 without GPUs."""
    most: int
    """Largest number of GPUs for one task, in units of `resource`; 0 without GPUs."""
    nodes: int
    """Largest number of the pool's nodes."""
    room: Room
    """Resources for a task that is alone on its node."""
    share: Room
    """Resources for one of several tasks on a node, if there is one task for each GPU or, where GPUs are shared, for
    each share of a GPU.
    """
    tolerations: tuple[tuple[str, str], ...]
    """Key and effect of each taint of the pool."""
    own: OsmoPlatform
    is_spot: bool = False
    """True where Azure may evict the pool's nodes at any time."""
    pools: tuple[str, ...] = ()
    """All node pools of a platform that several pools serve, the one in `pool` first; empty for one pool."""
    shared: str | None = None
    """Value of PLATFORM_LABEL on the nodes of these pools; None for one pool."""

    @property
    def node_selector(self) -> dict[str, str]:
        """Labels that select the platform's nodes."""
        return {SHORT_POOL_LABEL: self.pool} if self.shared is None else {PLATFORM_LABEL: self.shared}

    @property
    def grace_seconds(self) -> int:
        """Seconds from SIGTERM to SIGKILL of a task.

        OSMO's own container also has to upload in this time (NVIDIA/OSMO#764).
        """
        return self.own.checkpoint_seconds or DEFAULT_GRACE_SECONDS

    @property
    def has_gpu(self) -> bool:
        return self.resource is not None


def family(gpu: Gpu) -> str:
    """Name of a GPU in one word, as workflows write it.

    >>> family(machine("Standard_NC40ads_H100_v5").gpu), family(machine("rtx-pro-server").gpu)
    ('h100', 'rtxpro')
    """
    words = [re.sub(r"[^a-z0-9]", "", word) for word in gpu.model.lower().split()]
    count = _FAMILIES.get(words[0], 1)
    return "".join(words[:count])


def platforms(settings: Settings) -> list[OsmoPlatformFacts]:
    """All platforms: `cpu`, and one for each resource of each GPU pool, in the order of the settings."""
    pool = settings.cpu_pool
    whole, tolerated = room(pool), _pairs(tolerations_for(pool.tolerate))
    cpu = OsmoPlatformFacts(
        CPU_PLATFORM, CPU_POOL, None, 0, 0, pool.scale.most, whole, whole, tolerated, OsmoPlatform()
    )
    return [cpu, *gpu_platforms(settings)]


def gpu_platforms(settings: Settings) -> Iterator[OsmoPlatformFacts]:
    """Platforms of the pools whose size has NVIDIA GPUs according to the catalogue.

    OSMO's Pod templates and its accounting of a pool's GPUs only support `nvidia.com/gpu` (NVIDIA/OSMO docs, pod
    templates: `default_user` requests it even for no GPU), so OSMO cannot use GPUs of another vendor.
    """
    bases = base_names(settings)
    for key, pool in nvidia_pools(settings).items():
        if not knows_gpu(pool) or is_slurms(settings, key) or not is_first(settings, key):
            continue
        resources, whole = gpu_resources(pool), room(pool)
        others = [settings.pools[each] for each in members(settings, key)]
        for resource, count in resources.items():
            suffix = f"-{_slug(resource)}" if len(resources) > 1 else ""
            yield OsmoPlatformFacts(
                name=f"{bases[key]}{suffix}",
                pool=key,
                resource=resource,
                per_node=count,
                most=_most(pool, count),
                nodes=sum(each.scale.most for each in others),
                room=whole,
                share=whole.shared_by(max(sum(resources.values()), 1)),
                tolerations=tuple(dict.fromkeys(pair for each in others for pair in _pairs(tolerations(each)))),
                own=settings.osmo.platforms.get(key, OsmoPlatform()),
                is_spot=pool.is_spot,
                pools=members(settings, key) if pool.capacity.platform is not None else (),
                shared=pool.capacity.platform,
            )


def _pairs(found: Iterable[Mapping[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((item["key"], item["effect"]) for item in found)


def base_names(settings: Settings) -> dict[str, str]:
    """Name of the OSMO platform of each GPU pool, by pool: the name in the settings, or the GPU model's name for the
    first pool with that model, or the pool's own name. Of pools that serve one platform together, only the first has a
    name here.

    Adding a pool therefore never renames a platform that workflows already use.
    """
    given = {key: item.name for key, item in settings.osmo.platforms.items() if item.name}
    given |= {key: pool.capacity.platform for key, pool in settings.pools.items() if pool.capacity.platform}
    taken = {CPU_PLATFORM, *(name for key, name in given.items() if key in settings.pools)}
    names: dict[str, str] = {}
    for key, pool in nvidia_pools(settings).items():
        if not is_first(settings, key):
            continue
        gpu = machine(pool.sku).gpu if knows_gpu(pool) else None
        wanted = given.get(key) or (family(gpu) if gpu else key)
        names[key] = wanted if key in given or wanted not in taken else key
        taken.add(names[key])
    return names


def _slug(resource: str) -> str:
    """Last part of the name of a platform for one of several GPU resources: `1g-12gb` for nvidia.com/mig-1g.12gb."""
    return re.sub(r"[^a-z0-9]+", "-", resource.rpartition("/")[2].removeprefix("mig-").lower()).strip("-")


def _most(pool: Pool, count: int) -> int:
    """Largest number of GPU shares for one task: 1 where the device plugin is set to refuse requests for more."""
    replicated = pool.sharing.time_slicing or pool.sharing.mps
    return 1 if replicated is not None and replicated.fail_requests_greater_than_one else count


def gpu_capacity(settings: Settings) -> dict[str, int]:
    """Number of GPUs, by resource, that OSMO can have: the GPUs of all pools with OSMO platforms, each pool with its
    largest number of nodes.
    """
    found: dict[str, int] = {}
    for name, pool in nvidia_pools(settings).items():
        if knows_gpu(pool) and not is_slurms(settings, name):
            for resource, count in gpu_resources(pool).items():
                found[resource] = found.get(resource, 0) + count * pool.scale.most
    return found


def gpu_quota(settings: Settings) -> dict[str, int]:
    """Largest number of GPUs, by resource, that the Pods of workflows may request together.

    Pending Pods count too: OSMO creates all Pods of a group at once, and they wait in the scheduler's queue. A quota
    of exactly the pools' GPUs would reject Pods that should only wait.
    """
    own = settings.osmo.gpu_quota
    return {
        resource: most * WAITING_FACTOR if own is None else own for resource, most in gpu_capacity(settings).items()
    }
