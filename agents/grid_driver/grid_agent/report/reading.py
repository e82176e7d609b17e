"""nvidia-smi's report -> what it says of the driver and of each GPU. Pure.

Silence is never health: what a report should say and does not, or says in words that are not known, is in `unknown`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from grid_agent.report.facts import LOST, USABLE, Facts, spelled
from grid_agent.report.plain import plain
from grid_agent.report.text_form import read_text
from grid_agent.report.tree import Node, Tree
from grid_agent.report.xml_form import is_xml, read_xml

TROUBLE = re.compile(
    r"(?i)\b(fail(ed|ure)?|unable|couldn't|can't|mismatch|corrupt(ed)?|lost|no devices|unknown error|fallen off)\b"
)
"""In a line that nvidia-smi prints beside its report, or in its place."""
EXIT_CODES = {
    8: "a GPU's external power cables are not attached",
    10: "the kernel found an interrupt problem with a GPU",
    14: "a GPU's infoROM is corrupted",
    15: "a GPU has fallen off the bus or is otherwise inaccessible",
}
"""Of nvidia-smi, with which it may print its report as if nothing were wrong (nvidia-smi(1), RETURN VALUE)."""


@dataclass(frozen=True)
class Gpu:
    """One GPU as nvidia-smi shows it. Empty text: not available, or in `unknown`."""

    address: str
    product: str
    uuid: str
    persistence: str
    """`Enabled` or `Disabled`."""
    mig: str
    """Current MIG mode: `Enabled` or `Disabled`."""
    mig_known: bool
    """Whether the report says so; without MIG the mode is not available, which is known, too."""
    mig_pending: str
    """MIG mode after the next reset."""
    mig_devices: int
    licence: str
    """`Licensed`, `Unlicensed`, with what follows in brackets cut off."""
    recovery: str
    """What the driver asks for, in its own words: `None`, `Reset`, `GPU_RESET`, `Node Reboot`, `Drain P2P` …"""
    remap_failed: str
    remap_pending: str
    """`Yes` or `No`."""
    retirement_pending: str
    """Of memory pages, on GPUs before Ampere: `Yes` or `No`."""
    unrepairable: str
    """Memory that can't be repaired: `Yes` or `No`."""
    threshold_exceeded: str
    """More uncorrectable errors of SRAM than a GPU may have in its life: `Yes` or `No`."""
    repairs_pending: Sequence[str]
    """Repairs that the next start makes: `Channel`, `TPC`."""
    uncorrectable: int
    """Uncorrectable ECC errors of DRAM and SRAM since the driver was loaded."""
    counts_errors: bool = False
    """Whether it counts them at all; a vGPU does not."""
    unknown: Sequence[str] = ()
    """What is not known of it, each with its line."""
    lost: Sequence[str] = ()
    """Lines on which the GPU could not answer, because it is lost or waits for a reset."""

    @property
    def needs(self) -> str:
        """What it needs before it can run programs again; empty where it can."""
        if spelled(self.recovery) not in USABLE:
            return self.recovery
        return self.lost[0] if self.lost else ""


@dataclass(frozen=True)
class Report:
    driver: str
    """Version of the driver; empty where no line has one."""
    gpus: Sequence[Gpu]
    modules: str
    """`open` or `proprietary`; empty where /proc/driver/nvidia/version does not follow the report."""
    problems: Sequence[str] = field(default_factory=tuple)
    """Why the report as a whole cannot be relied upon: GPUs that are missing, or a head that contradicts itself."""
    warnings: Sequence[str] = field(default_factory=tuple)
    """Lines beside the report that speak of trouble."""


def read_report(text: str) -> Report:
    """A report in either form, with what stands around it.

    Raises:
        Unreadable: it is none, or is not whole.
    """
    tree = read_xml(text) if is_xml(text) else read_text(text)
    driver, problems = _version(tree.head)
    gpus = [_gpu(node, driver) for node in tree.gpus]
    problems += _count(tree, gpus)
    warnings = [plain(each) for each in tree.remarks if TROUBLE.search(each) or LOST.search(each)]
    return Report(driver, gpus, _flavour(tree.modules), problems, warnings)


def _version(head: Node) -> tuple[str, list[str]]:
    """The driver's version. Branch 610 adds a remark to `Driver Version`, which `KMD Version` is to replace."""
    nodes = head.at("kmd_version") or head.at("driver_version")
    found = {match[0] for node in nodes if (match := re.match(r"\d+(?:\.\d+)+(?=\s|$)", node.value))}
    if len(found) == 1 and len(nodes) == len([node for node in nodes if node.value.split()[:1] == [*found][:1]]):
        return found.pop(), []
    return "", [f"no driver version is known: {nodes[0].shown if nodes else 'no line has it'}"]


def _flavour(modules: str) -> str:
    if "Open Kernel Module" in modules:
        return "open"
    return "proprietary" if "Kernel Module" in modules else ""


def _count(tree: Tree, gpus: Sequence[Gpu]) -> list[str]:
    nodes = tree.head.at("attached_gpus")
    counts = {node.value for node in nodes}
    addresses = [gpu.address for gpu in gpus]
    doubled = sorted({each for each in addresses if addresses.count(each) > 1})
    if len(counts) != 1:
        return ["the report does not say how many GPUs are attached"]
    if counts != {str(len(gpus))}:
        return [f"the report has {len(gpus)} GPUs, and {nodes[0].shown}"]
    if not gpus:
        return ["no GPU is attached"]
    return [f"the report has GPU {each} more than once" for each in doubled]


def _gpu(node: Node, driver: str) -> Gpu:
    facts = Facts(node, int(driver.partition(".")[0] or 0))
    for each in node.below():
        if LOST.search(each.value):
            facts.lost.append(each.shown)
        elif re.fullmatch(r"\[?(?:ERR!|Unknown Error)\]?", each.value, re.IGNORECASE):
            facts.note(each.shown)
    errors, counts = facts.errors()
    units = {unit: facts.yes_no(("ecc_errors", f"{unit.lower()}_repair_pending")) for unit in ("Channel", "TPC")}
    facts.expect_repairs()
    facts.expect_places()
    remap_failed, remap_pending = facts.remaps()
    before = len(facts.unknown)
    mig = facts.mode("MIG Mode, Current", ("mig_mode", "current"), ("mig_mode", "current_mig"))
    mig_known = len(facts.unknown) == before
    return Gpu(
        address=node.label,
        product=facts.text("Product Name", ("product_name",)),
        uuid=facts.text("", ("gpu_uuid",), ("uuid",)),
        persistence=facts.mode("Persistence Mode", ("persistence_mode",)),
        mig=mig,
        mig_known=mig_known,
        mig_pending=facts.mode_or_none(("mig_mode", "pending"), ("mig_mode", "pending_mig")),
        mig_devices=len(node.at("mig_device")) + len(node.at("mig_devices", "mig_device")),
        licence=facts.licence(),
        recovery=facts.recovery(),
        remap_failed=remap_failed,
        remap_pending=remap_pending,
        retirement_pending=facts.retirement(remaps=bool(remap_pending), counts=counts),
        unrepairable=facts.yes_no(("ecc_errors", "unrepairable_memory")),
        threshold_exceeded=facts.yes_no(("ecc_errors", "aggregate", "sram_threshold_exceeded")),
        repairs_pending=[unit for unit, pending in units.items() if pending == "Yes"],
        uncorrectable=errors,
        counts_errors=counts,
        unknown=tuple(dict.fromkeys(plain(each) for each in facts.unknown)),
        lost=tuple(plain(each) for each in facts.lost),
    )
