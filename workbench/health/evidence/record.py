"""Records that the agent agents/gpu_evidence writes: a ConfigMap for each machine, which outlives the
machine's node.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.kubernetes.objects import annotations_of, at, labels, name
from physical_ai.nested import is_mapping, mappings, parsed

NAMESPACE = "gpu-operator"
LABEL, SEEN = "physical-ai/evidence", "physical-ai/evidence-seen"
MACHINE, GPUS, STARTS = "machine.json", "gpus.json", "starts.json"


@dataclass(frozen=True)
class Machine:
    """Record of one machine. `facts`, `gpus` and `starts` are the three documents that the agent writes; a document
    that is missing in the ConfigMap is empty here.
    """

    name: str
    """Name of the ConfigMap."""
    node: str
    seen: str
    """Time at which the record was last written, in UTC."""
    facts: Mapping[str, Any]
    gpus: Mapping[str, Any]
    starts: Sequence[Mapping[str, Any]]

    @property
    def physical_host(self) -> str:
        return str(at(self.facts, "host.physicalHostName", ""))

    @property
    def vm(self) -> str:
        """The VM's unique id."""
        return str(self.facts.get("vmUniqueId", ""))

    def cards(self) -> list[dict[str, Any]]:
        """All GPUs of the machine that were ever seen: the driver's facts about each, and the serial number from
        nvidia-smi.

        `lastSeen` is the last time that the driver or nvidia-smi reported the GPU.
        """
        asked, given = mappings(self.gpus.get("gpus")), mappings(self.facts.get("gpus"))
        by_uuid = {str(each.get("uuid", "")): each for each in asked}
        found = [{**each, **by_uuid.pop(str(each.get("uuid", "")), {})} for each in given]
        return [*found, *map(dict, by_uuid.values())]


def read(config_map: Mapping[str, Any]) -> Machine:
    """The record in a ConfigMap. A document that is not JSON is left empty."""
    data: Mapping[str, str] = at(config_map, "data", {})

    def document(key: str) -> dict[str, Any]:
        found = parsed(data.get(key))
        return dict(found) if is_mapping(found) else {}

    facts = document(MACHINE)
    return Machine(
        name=name(config_map),
        node=str(facts.get("node") or labels(config_map).get(LABEL, "")),
        seen=annotations_of(config_map).get(SEEN, ""),
        facts=facts,
        gpus=document(GPUS),
        starts=mappings(parsed(data.get(STARTS))),
    )


def of_node(records: Iterable[Machine], node: str, vm: str = "") -> Machine | None:
    """Newest record of a node; None if there is none. If any record has the VM id `vm`, the newest record with this
    id.
    """
    mine = sorted((each for each in records if each.node == node), key=lambda each: each.seen, reverse=True)
    return next((each for each in mine if vm and each.vm == vm.lower()), next(iter(mine), None))
