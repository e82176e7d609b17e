"""Values of one GPU in a report's tree, with a note of each that is missing or not understood. Pure.

A value at several places of one GPU counts when all agree; of `Yes` and `No` it is `Yes`, always the worse one.
Lines and elements as in reports of drivers 530 to 610, and in the DTD nvsmi_device_v13 of 580.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from grid_agent.report.tree import Node

LOST = re.compile(r"\b(?:gpu|device) is lost\b|\bfallen off the bus\b|\brequires? reset\b", re.IGNORECASE)
"""What stands in place of a value where the GPU cannot answer any more."""
USABLE = ("", "none", "n a", "not applicable", "not supported", "drain p2p")
"""Recovery actions of a GPU that can run programs, in lower case and without signs. Any other one, whatever its words,
is that of a failed GPU: NVML has more of them with each branch (nvmlDeviceGpuRecoveryAction_t). After `Drain P2P` a GPU
works alone, but reaches no peer."""
_NOT_AVAILABLE = ("n/a", "[n/a]", "not supported", "[not supported]")
_REPLACED = "requested functionality has been deprecated"
"""In place of a value that another line has by now."""
_YES_NO = ("Yes", "No")
_MODES = ("Enabled", "Disabled")
_FROM_580 = 580
"""The first branch whose reports have `Unrepairable Memory` beside the other repairs of memory."""
Path = tuple[str, ...]


def spelled(action: str) -> str:
    """A recovery action without case and signs: `GPU_RESET`, `[N/A]` and `Drain P2P` are gpu reset, n a, drain p2p."""
    return " ".join(re.findall(r"[a-z0-9]+", action.lower()))


def is_available(node: Node) -> bool:
    """Whether the line has a value, not the statement that the GPU has none."""
    return node.value.lower() not in _NOT_AVAILABLE


class Facts:
    """The values of one GPU. `unknown` and `lost` grow as values are read."""

    def __init__(self, gpu: Node, branch: int) -> None:
        self.gpu, self.branch = gpu, branch
        self.unknown: list[str] = []
        self.lost: list[str] = []

    def text(self, label: str, *paths: Path) -> str:
        """A value in any words; with a label it is a line that the report must have."""
        found = self._found(label, paths)
        return found[0].value if found else ""

    def mode(self, label: str, *paths: Path) -> str:
        """`Enabled` or `Disabled`, which every report has."""
        return self._agreed(self._found(label, paths), _MODES)

    def mode_or_none(self, *paths: Path) -> str:
        return self._agreed(self._found("", paths), _MODES)

    def yes_no(self, *paths: Path, label: str = "") -> str:
        """`Yes` or `No`; with a label it is a line that the report must have."""
        return self._agreed(self._found(label, paths), _YES_NO)

    def licence(self) -> str:
        """Of the licensed product, without its expiry. Of several the worst."""
        found = [each for section in self.gpu.children for each in section.children if each.name == "license_status"]
        values = [node.value.partition(" (")[0] for node in found]
        values = ["" if value.lower() in _NOT_AVAILABLE else value for value in values]
        return next((value for value in values if value != "Licensed"), values[0] if values else "")

    def recovery(self) -> str:
        """The recovery action, or what stood in its place before branch 570: whether a reset is required."""
        actions = self._found("", [("gpu_recovery_action",)])
        resets = [
            (self._found("", [("gpu_reset_status", name)]), action)
            for name, action in (("reset_required", "Reset"), ("drain_and_reset_recommended", "Drain and Reset"))
        ]
        if not actions and not any(nodes for nodes, _ in resets):
            self.miss("GPU Recovery Action")
        values = [node.value if is_available(node) else "" for node in actions]
        values += [action for nodes, action in resets if self._agreed(nodes, _YES_NO) == "Yes"]
        return next((value for value in values if spelled(value) not in USABLE), values[0] if values else "")

    def remaps(self) -> tuple[str, str]:
        """Whether a row could not be remapped, and whether one waits for it. Empty before Ampere, and on vGPUs."""
        sections = self._found("Remapped Rows", [("remapped_rows",)])
        if not any(section.children for section in sections):
            for section in sections:
                if is_available(section):
                    self.note(section.shown)
            return "", ""
        failed = [("remapped_rows", "remapping_failure_occurred"), ("remapped_rows", "remapped_row_failure")]
        pending = [("remapped_rows", "pending"), ("remapped_rows", "remapped_row_pending")]
        return (
            self.yes_no(*failed, label="Remapping Failure Occurred"),
            self.yes_no(*pending, label="Remapped Rows, Pending"),
        )

    def retirement(self, *, remaps: bool, counts: bool) -> str:
        """Whether a page waits to be retired: what a GPU with ECC that remaps no rows does instead."""
        names = ("pending_page_blacklist", "pending", "pending_blacklist", "pending_retirement")
        label = "Retired Pages, Pending Page Blacklist" if counts and not remaps else ""
        return self.yes_no(*(("retired_pages", name) for name in names), label=label)

    def errors(self) -> tuple[int, bool]:
        """Uncorrectable errors since the driver was loaded, and whether they are counted at all."""
        sections = self._found("ECC Errors", [("ecc_errors",)])
        if not any(section.children for section in sections):
            for section in sections:
                if is_available(section):
                    self.note(section.shown)
            return self._errors_of_mig(), False
        volatile = [("ecc_errors", "volatile")]
        counters = [node for each in self._found("ECC Errors, Volatile", volatile) for node in each.children]
        bits = [node for each in counters if each.name == "double_bit" for node in each.children]
        counters = [each for each in counters if "uncorrectable" in each.name]
        if not counters and not bits:
            self.miss("ECC Errors, Volatile, Uncorrectable")
        found = [(node.name, count) for node in counters + bits if (count := self._count(node)) is not None]
        total = max((count for name, count in found if name == "total"), default=0)
        single = sum(count for name, count in found if name != "total")
        if found and not bits:
            self._expect_counts({each.name for each in counters})
        return max(total, single, self._errors_of_mig()), bool(found)

    def expect_repairs(self) -> None:
        """Lines about repairs of memory come together, from Ampere on."""
        names = {node.name for node in self.gpu.at("ecc_errors") for node in node.children}
        pair = [(f"{unit.lower()}_repair_pending", f"{unit} Repair Pending") for unit in ("Channel", "TPC")]
        if names & {_UNREPAIRABLE[0], *(name for name, _ in pair)}:
            self._expect(names, [*pair, *([_UNREPAIRABLE] if self.branch >= _FROM_580 else [])])
        aggregate = {node.name for node in self.gpu.at("ecc_errors", "aggregate") for node in node.children}
        if any("sram_uncorrectable_" in name for name in aggregate):
            self._expect(aggregate, [("sram_threshold_exceeded", "SRAM Threshold Exceeded")])

    def expect_places(self) -> None:
        """A line that counts stands in its own section. Elsewhere it is part of a report that is not understood."""
        waiting = [self.gpu]
        while waiting:
            parent = waiting.pop()
            for node in parent.children:
                if not re.fullmatch(_PLACES.get(node.name, ".*"), parent.name):
                    self.note(f"{node.shown}, below '{parent.label}'")
            waiting.extend(parent.children)

    def note(self, what: str) -> None:
        self.unknown.append(what)

    def miss(self, label: str) -> None:
        self.note(f"there is no line '{label}'")

    def _expect_counts(self, names: set[str]) -> None:
        """Errors of SRAM are one count, or in reports of newer drivers two."""
        self._expect(names, [("dram_uncorrectable", "DRAM Uncorrectable")])
        if "sram_uncorrectable" not in names:
            spelled = {name.replace("_sec_ded", "_secded") for name in names}
            self._expect(spelled, [("sram_uncorrectable_parity", "SRAM Uncorrectable Parity"), _SECDED])

    def _errors_of_mig(self) -> int:
        devices = [*self.gpu.at("mig_device"), *self.gpu.at("mig_devices", "mig_device")]
        found = [node for each in devices for node in each.below() if "uncorrectable" in node.name]
        return sum(self._count(node) or 0 for node in found if node.value)

    def _count(self, node: Node) -> int | None:
        if re.fullmatch(r"[0-9]{1,20}", node.value):
            return int(node.value)
        if is_available(node) and not LOST.search(node.value):
            self.note(node.shown)
        return None

    def _expect(self, names: Iterable[str], wanted: Sequence[tuple[str, str]]) -> None:
        there = set(names)
        for name, label in wanted:
            if name not in there:
                self.miss(label)

    def _found(self, label: str, paths: Iterable[Path]) -> list[Node]:
        nodes = [node for path in paths for node in self.gpu.at(*path) if node.value.lower() != _REPLACED]
        if label and not nodes:
            self.miss(label)
        return nodes

    def _agreed(self, nodes: Sequence[Node], known: tuple[str, str]) -> str:
        """The value of these nodes, where it is one of two; the first of them where they differ in it."""
        values: set[str] = set()
        for node in nodes:
            if node.value in known:
                values.add(node.value)
            elif is_available(node) and not LOST.search(node.value):
                self.note(node.shown)
        if len(values) > 1 and known is _MODES:
            self.note(f"{nodes[0].shown}, and line {nodes[-1].line} contradicts it")
            return ""
        return next((value for value in known if value in values), "")


_ERRORS = "volatile|aggregate"
_PLACES = {
    "gpu_recovery_action": "gpu",
    "persistence_mode": "gpu",
    "mig_mode": "gpu",
    "remapped_rows": "gpu",
    "retired_pages": "gpu",
    "ecc_errors": "gpu|mig_device",
    "volatile": "ecc_errors",
    "aggregate": "ecc_errors",
    "dram_uncorrectable": _ERRORS,
    "sram_uncorrectable": f"{_ERRORS}|volatile_count|aggregate_count",
    "sram_uncorrectable_parity": _ERRORS,
    "sram_uncorrectable_sec_ded": _ERRORS,
    "sram_uncorrectable_secded": _ERRORS,
    "double_bit": _ERRORS,
    "sram_threshold_exceeded": "aggregate",
    "channel_repair_pending": "ecc_errors",
    "tpc_repair_pending": "ecc_errors",
    "unrepairable_memory": "ecc_errors",
    "remapping_failure_occurred": "remapped_rows",
    "remapped_row_failure": "remapped_rows",
    "remapped_row_pending": "remapped_rows",
    "pending_page_blacklist": "retired_pages",
    "reset_required": "gpu_reset_status",
    "drain_and_reset_recommended": "gpu_reset_status",
    "license_status": ".*licensed_product",
}
"""Names of lines that count, and of the section that they belong to."""
_SECDED = ("sram_uncorrectable_secded", "SRAM Uncorrectable SEC-DED")
_UNREPAIRABLE = ("unrepairable_memory", "Unrepairable Memory")
