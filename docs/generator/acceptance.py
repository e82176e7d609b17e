"""docs/reference/acceptance.md, generated from the checks of acceptance, their images and the floors."""

from __future__ import annotations

from docs.generator.markdown import code, or_dash, table
from physical_ai.catalog.acceptance import Check, check_images, checks, floors
from physical_ai.catalog.nccl import figures
from physical_ai.repository import ROOT
from simulator.faults.defects import DEFECT_NAMES, DEFECTS

FILE = ROOT / "docs" / "reference" / "acceptance.md"
_HEAD = """\
# Acceptance: checks and floors

Generated from `physical_ai/catalog/data/acceptance/` by `python -m docs.generator`. [Acceptance](../acceptance.md) says
how to run the checks.
"""
_POOLS = {
    "all": "all",
    "graphics": "GPUs with ray tracing",
    "passthrough": "whole GPUs of the guest, never a vGPU",
    "peers": "two GPUs or more",
    "fabric": "`fabric: infiniband`",
}


def document() -> str:
    """Text of the complete page."""
    return "\n".join([_HEAD, _checks(), _images(), _floors(), _defects()])


def _checks() -> str:
    rows = [
        [code(each.name), each.title, each.level, _POOLS[each.pools], _gpus(each), str(each.minutes), each.source]
        for each in checks().values()
    ]
    head = ["check", "what", "level", "pools", "GPUs", "minutes at most", "source"]
    return f"## Checks\n\n{table(head, rows)}"


def _gpus(check: Check) -> str:
    return f"{check.gpus}, of {check.nodes} nodes" if check.nodes > 1 else check.gpus


def _images() -> str:
    rows = [
        [
            code(each.name),
            or_dash(code(each.pinned or each.reference) if each.pinned or each.reference else ""),
            or_dash(", ".join(each.unverified)),
            each.source,
        ]
        for each in check_images().values()
    ]
    head = ["image", "reference", "without a source", "source"]
    return f"## Images\n\n`health.acceptance.images` replaces each by name.\n\n{table(head, rows)}"


def _floors() -> str:
    rows = [
        [
            code(each.size),
            or_dash(f"{each.host_device:g}" if each.host_device else ""),
            or_dash(f"{each.peer:g}" if each.peer else ""),
            or_dash(f"{each.nccl.bus_gb_s:g} at {each.nccl.bytes}" if each.nccl else ""),
            f"{each.source} ({each.date})",
        ]
        for each in floors().values()
    ]
    head = ["VM size", "host and GPU", "GPU to GPU", "all-reduce, bus bandwidth", "source"]
    text = "In GB/s. A size without a row has no floor: its nodes are compared with their own first run."
    return f"## Floors\n\n{text}\n\n{table(head, rows)}\n{_several()}"


def _several() -> str:
    rows = [
        [
            code(each.size),
            str(each.nodes),
            f"{each.bytes}; {each.setup}",
            f"{each.measured:g}",
            f"{each.least:g}",
            f"{each.source} ({each.date})"
            + (f"; not verified: {'; '.join(each.unverified)}" if each.unverified else ""),
        ]
        for each in figures()
    ]
    head = ["VM size", "nodes", "messages, setup", "measured", "floor", "source"]
    text = (
        "All-reduce over several nodes, one rank for each GPU, average bus bandwidth in GB/s. A figure belongs to its"
        " setup\nalone; a size without a row is compared with the nodes' own first run."
    )
    return f"{text}\n\n{table(head, rows)}"


def _defects() -> str:
    rows = [[code(name), text] for name, text in DEFECT_NAMES.items()]
    text = (
        "Faults of `physai fault` make checks fail as on a real node. What no fault does, an annotation of a simulated"
        f" node does:\n`{DEFECTS}`, with one or several of these names."
    )
    return f"## In the simulator\n\n{text}\n\n{table(['name', 'what it does'], rows)}"
