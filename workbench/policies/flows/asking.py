"""Answer to a question about one connection in a stack: can FROM reach TO? The flow need not be declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from physical_ai.catalog.lookup import nearest
from workbench.policies.flows.declared import FLOWS, PARTIES, Flow, Required
from workbench.policies.flows.images import TARGET as IMAGES
from workbench.policies.flows.judging import Judgement
from workbench.policies.flows.monitors import TYPES as MONITORS
from workbench.policies.flows.parties import Address, Pod
from workbench.policies.flows.paths import BALANCERS, RESOLVER, SERVICES, SUBNETS, ways
from workbench.policies.flows.ways import CLIENTS
from workbench.policies.flows.world import World

SOURCES = (*CLIENTS, *(name for name, each in PARTIES.items() if not isinstance(each, Address)))
OF_CLIENTS = (*BALANCERS, SUBNETS, RESOLVER)
"""Targets about which `physai reach` answers only if the source is outside of the cluster."""
TARGETS = (*OF_CLIENTS, *SERVICES, *MONITORS, IMAGES, *PARTIES)
OWN_PORTS = frozenset({*BALANCERS, *SERVICES, *MONITORS, IMAGES})
"""Targets whose resources determine the ports, so that a question of `physai reach` about them needs no port."""


class Unasked(Exception):
    """Error for a question that cannot be answered. The text says why, and what to ask instead."""


def ask(world: World, source: str, target: str, ports: Sequence[int] = (), protocol: str = "TCP") -> list[Judgement]:
    """Judgements on the connections from `source` to `target`. Without `ports`, these are the declared flows between
    the two ends. With `ports`, or if no flow is declared, a connection to each port is judged.

    Raises:
        Unasked: an end is not known, the stack does not have it, or a port must be given.
    """
    _known(source, SOURCES, "FROM")
    _known(target, TARGETS, "TO")
    if (target in OF_CLIENTS and source not in CLIENTS) or (target in MONITORS and not _is_pod(source)):
        raise Unasked(
            f"{target} are asked about from {' and '.join(CLIENTS if target in OF_CLIENTS else ('Pods',))} only"
        )
    if target == IMAGES and source != "node":
        raise Unasked("nodes pull the images: ask about node → images")
    if source in CLIENTS and isinstance(PARTIES.get(target), Pod):
        raise Unasked(
            "no client reaches a Pod itself: ask about public-balancers or internal-balancers, and then about"
            f" node → {target}"
        )
    declared = [each for each in FLOWS if (each.source, each.target) == (source, target)]
    if ports:
        flows = [Flow(source, target, tuple(ports), protocol, Required.ASKED, "")]
        known = {(port, each.protocol): each for each in declared for port in each.ports}
        flows = [known.get((port, protocol), replace(flows[0], ports=(port,))) for port in ports]
        flows = [replace(each, ports=(port,)) for each, port in zip(flows, ports, strict=True)]
    else:
        flows = declared or [Flow(source, target, (), protocol, Required.ASKED, "")]
        if not declared and target not in OWN_PORTS:
            raise Unasked(f"no flow from {source} to {target} is declared: name a port with --port")
    found = [Judgement(each, way) for each in flows for way in ways(world, each)]
    if not found:
        raise Unasked(_absent(world, source, target))
    return found


def _is_pod(name: str) -> bool:
    return isinstance(PARTIES.get(name), Pod)


def _known(name: str, among: Sequence[str], what: str) -> None:
    if name in among:
        return
    near = nearest(name, among)
    meant = f" Did you mean {near}?" if near else ""
    raise Unasked(f"{what}: {name} is not a known end.{meant} All: {', '.join(sorted(set(among)))}")


def _absent(world: World, source: str, target: str) -> str:
    for name in (source, target):
        found = PARTIES.get(name)
        if found is not None and not world.has(name):
            where = f": the namespace {found.namespace} has nothing of it" if isinstance(found, Pod) else ""
            return f"the stack has no {name}{where}"
    return f"the stack has no {target} that {source} could reach"


def grouped(judged: Sequence[Judgement]) -> list[tuple[Judgement, list[int]]]:
    """Judgements, each with its ports. Several judgements that differ only in the port become one entry with all their
    ports.
    """
    found: dict[tuple[object, ...], tuple[Judgement, list[int]]] = {}
    for each in judged:
        verdict = each.way.verdict
        key = (
            each.flow.source,
            each.flow.target,
            each.flow.protocol,
            each.way.target,
            verdict.open,
            verdict.by,
            each.holds,
        )
        found.setdefault(key, (each, []))[1].append(each.way.port)
    return list(found.values())


def counts(judged: Sequence[Judgement]) -> Mapping[str, int]:
    states = {True: "open", False: "closed", None: "unknown"}
    result: dict[str, int] = dict.fromkeys(("open", "closed", "unknown", "broken"), 0)
    for each in judged:
        result[states[each.way.verdict.open]] += 1
        result["broken"] += not each.holds
    return result
