"""The steps of a node's repair, and where each of them leaves what it has done."""

from __future__ import annotations

from docs.generator.pictures.mermaid import box, chain, diagram, frame
from workbench.health.replacement.record import RepairStep

WRITES = {
    RepairStep.EVIDENCE: "ConfigMap repair-NODE-UID: what is known of the node",
    RepairStep.CORDON: "node: unschedulable, and an annotation with the repair's name",
    RepairStep.DRAIN: "Pods: evicted, or waited for until --deadline",
    RepairStep.REPORT: "Azure: a report about the machine",
    RepairStep.REMOVE: "Azure: the machine is deleted or restarted",
    RepairStep.RESTORE: "Azure: the pool's number of nodes",
    RepairStep.AWAIT: "new node: unschedulable at once",
    RepairStep.ACCEPT: "Jobs and a record of acceptance",
    RepairStep.UNCORDON: "node: takes work again",
}
TAKES_NO_WORK = "the node takes no new work"


def repair() -> str:
    """Flow chart of the steps, in order, with what each writes."""
    steps = [each for each in RepairStep if each is not RepairStep.DONE]
    boxes = {each: box(each, f"{number} {each}", WRITES[each]) for number, each in enumerate(steps, 1)}
    first, *inside, last = steps
    lines = [
        boxes[first],
        *frame(TAKES_NO_WORK, [*(boxes[each] for each in inside), chain(inside)]),
        boxes[last],
        chain([first, TAKES_NO_WORK, last]),
    ]
    described = f"In order: {', '.join(f'{each} ({WRITES[each]})' for each in steps)}."
    return diagram("flowchart TD", "The steps of a repair, and what each writes", described, lines)
