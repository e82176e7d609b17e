"""Rules about the resource claims that a stack declares, and their quotas."""

from __future__ import annotations

from collections.abc import Iterator

from parts.dra import facts
from parts.dra.model import GpuClaim
from physical_ai.catalog import nearest
from physical_ai.catalog.system_namespaces import KUBERNETES_NAMESPACES
from physical_ai.planning import manifests
from physical_ai.settings.facts.pools import gpus_per_node
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import Rule, SettingFinding, Trust, error, warning

_CLAIMS: Path = ("dra", "claims")
_NAMESPACES: Path = ("dra", "namespaces")
CLAIM_GPU = Rule("dra-claim-gpu", "docs/resource-claims.md")
CLAIM_IMPOSSIBLE = Rule("dra-claim-impossible", "parts/dra/claim_devices.yaml")
CLAIM_COUNT = Rule(
    "dra-claim-count", "Kubernetes docs, dynamic resource allocation: the devices of a claim are of one node"
)
NAMESPACE = Rule("dra-namespace", "manifests/namespaces.yaml")
UNUSED = Rule("dra-unused", "docs/resource-claims.md")


def check_claims(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about claims."""
    if not trust(("dra",), ("pools",)):
        return
    given = settings.dra
    if not facts.claim_pools(settings):
        for path, is_set in ((_CLAIMS, given.claims), (_NAMESPACES, given.namespaces)):
            if is_set:
                problem = "No pool offers its GPUs by claims, so these would wait forever."
                yield error(path, problem, "allocation: dra on a pool, or leave this out.", rule=UNUSED)
        return
    if given.claims and not given.namespaces:
        problem = "No namespace has these claims."
        yield warning(_CLAIMS, problem, "dra.namespaces.", rule=UNUSED)
    for name, claim in given.claims.items():
        yield from _claim((*_CLAIMS, name), claim, settings)
    for name in given.namespaces:
        yield from _namespace(name, settings)


def _claim(path: Path, claim: GpuClaim, settings: Settings) -> Iterator[SettingFinding]:
    known = facts.claim_gpus(settings)
    if not known:
        return  # the pools have findings of their own
    if claim.gpu is not None and claim.gpu not in known:
        yield _unknown((*path, "gpu"), claim.gpu, list(known))
        return
    if path[-1] in known and claim.gpu != path[-1]:
        problem = f"The name {path[-1]} belongs to the claim for a whole GPU of that kind."
        yield error(path, problem, "Another name.", rule=CLAIM_GPU)
    able = facts.gpus_for(settings, claim)
    if not able:
        had = ", ".join(
            f"{gpu} ({device.architecture}, {device.memory_mib * 2**20 // facts.GB} GB)"
            for gpu, device in known.items()
        )
        problem = f"No GPU of the stack matches this claim, so its Pods would wait forever. GPUs of the stack: {had}."
        yield error(path, problem, "Ask for less.", rule=CLAIM_IMPOSSIBLE)
        return
    most = max(
        (
            gpus_per_node(pool)
            for pool in facts.claim_pools(settings).values()
            if facts.device_of(pool) in able.values()
        ),
        default=0,
    )
    if claim.gpus > most:
        problem = f"The GPUs of a claim are of one node, and the largest has {most}."
        yield error((*path, "gpus"), problem, f"At most {most}.", rule=CLAIM_COUNT)


def _namespace(name: str, settings: Settings) -> Iterator[SettingFinding]:
    path: Path = (*_NAMESPACES, name)
    own = {str(item["metadata"]["name"]) for item in manifests.namespaces()}
    if name in own or name in KUBERNETES_NAMESPACES:
        problem = f"The namespace {name} belongs to the platform or to Kubernetes."
        yield error(path, problem, "Another name.", rule=NAMESPACE)
    known, quota = facts.claim_gpus(settings), settings.dra.namespaces[name].quota
    for claim, wanted in settings.dra.claims.items() if quota is not None else ():
        if not (quota or {}).get(wanted.gpu or facts.ANY):
            problem = f"The quota leaves no GPU for the claim {claim}."
            fix = f"{wanted.gpu or facts.ANY}: 1 or more."
            yield warning((*path, "quota"), problem, fix, others=((*_CLAIMS, claim),), rule=CLAIM_COUNT)
    for gpu in quota or {}:
        if known and gpu not in (facts.ANY, *known):
            yield _unknown((*path, "quota", gpu), gpu, [facts.ANY, *known])


def _unknown(path: Path, gpu: str, known: list[str]) -> SettingFinding:
    near = nearest(gpu, known)
    fix = f"Did you mean '{near}'?" if near else f"Known: {', '.join(known)}."
    return error(path, f"No pool with allocation: dra has a GPU '{gpu}'.", fix, rule=CLAIM_GPU)
