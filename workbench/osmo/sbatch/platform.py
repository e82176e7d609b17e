"""Choice of the OSMO platform for a job: by its partition, by its GPU type, or because there is only one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from physical_ai.settings.facts.osmo import OsmoPlatformFacts
from workbench.osmo.lint.context import Context
from workbench.osmo.sbatch.report import Wrong


@dataclass(frozen=True)
class Platform:
    """An OSMO platform that a job can run on."""

    name: str
    pool: str
    """Node pool of the platform; the platform's own name if the node pool is not known."""
    has_gpu: bool | None
    """True if the platform has GPUs; None if that is not known."""
    gpus: int | None = None
    """Number of GPUs of a node that one task can have; None if the number is not known."""
    cpus: int | None = None
    memory_gib: int | None = None


def platforms_of(context: Context) -> list[Platform]:
    """All platforms of the OSMO pool that `context` names."""
    return [_platform(name, context.facts.get(name)) for name in context.config.pool(context.pool).platforms]


def _platform(name: str, facts: OsmoPlatformFacts | None) -> Platform:
    if facts is None:
        return Platform(name, name, None)
    return Platform(name, facts.pool, facts.has_gpu, facts.most, facts.room.cpus, facts.room.memory_gib)


@dataclass(frozen=True)
class Choice:
    """The platform that was chosen for a job, with a remark about the reason if the job does not name it."""

    name: str
    remark: str | None = None


def choose(
    known: Sequence[Platform], chosen: str | None, partition: str, gpu_type: str, *, has_gpu: bool | None
) -> Choice:
    """The platform for a job. Raises `Wrong` if no platform, or more than one, is possible.

    Args:
        chosen: Platform that the user names; it overrides the header.
        partition: Value of the header's --partition; empty if there is none.
        gpu_type: Type of GPU in the header; empty if there is none.
        has_gpu: True if the job asks for GPUs; None if it gets all GPUs of its nodes, however many they have.
    """
    every = ", ".join(platform.name for platform in known) or "none"
    if chosen is not None:
        if chosen not in [platform.name for platform in known]:
            raise Wrong(f"there is no platform '{chosen}'", f"Platforms: {every}.")
        return Choice(chosen)
    if "," in partition:
        raise Wrong(f"--partition={partition} leaves the partition open", f"Write one. Platforms: {every}.")
    wanted = partition.lower()
    for platform in known:
        if wanted and wanted in (platform.name.lower(), platform.pool.lower()):
            return Choice(platform.name)
    if has_gpu is None:
        fix = f"Write the GPUs of a node (--gres=gpu:N), or name the platform by --platform. Platforms: {every}."
        raise Wrong("--exclusive gives a job all GPUs that its nodes have, and the header does not say which", fix)
    fitting = [each for each in known if each.has_gpu in (None, has_gpu)]
    why = "a GPU" if has_gpu else "no GPU"
    if gpu_type:
        fitting = [each for each in fitting if _same_gpu(each.name, gpu_type)]
        why = f"GPUs of type {gpu_type}"
    if len(fitting) == 1:
        found = fitting[0].name
        return Choice(found, f"the job asks for {why}, for which there is one platform: {found}")
    named = f"no platform is called '{partition}'" if partition else "the header names no partition"
    raise Wrong(
        f"{named}, and {len(fitting)} platforms have {why}",
        f"Write --platform NAME, or --partition=NAME in the header. Platforms: {every}.",
    )


def _same_gpu(platform: str, gpu_type: str) -> bool:
    """True if a Slurm site's name of a GPU type and the platform's name mean the same GPU: one of the two names begins
    with the other, as with h100 and h100nvl.
    """
    one, other = (re.sub(r"[^a-z0-9]", "", name.lower()) for name in (platform, gpu_type))
    return one.startswith(other) or other.startswith(one)
