"""Usual time that Azure and Helm take to create a resource.

>>> timing("azure-native:network:VirtualNetworkGateway").minutes
(20.0, 45.0)
"""

from __future__ import annotations

import datetime
from functools import lru_cache

from physical_ai.catalog import node_steps
from physical_ai.catalog.load import DATA, CatalogError, read_mapping, row
from physical_ai.catalog.row import Minutes, Row, Text
from physical_ai.catalog.seen import seen_facts

FILE = "timings.yaml"
GPU_GATE = "physical-ai:gpu:GpuGate"
"""Type of the wait until nodes offer their GPUs. Its time is that of the node's steps, in `node_steps.yaml`."""


class Timing(Row):
    """Usual time to create a resource of one type."""

    type: Text
    """Pulumi type token. A token that ends with `*` stands for all types that begin with the text before `*`."""
    minutes: Minutes
    published: bool
    """True if the source has published the time; False if the time is an estimate of this project."""
    source: Text
    date: datetime.date

    def fits(self, kind: str) -> bool:
        return kind.startswith(self.type[:-1]) if self.type.endswith("*") else kind == self.type


class Reference(Row):
    """Duration of a deployment that another project has published for a platform of similar components."""

    what: Text
    minutes: Minutes
    source: Text
    date: datetime.date


def timing(kind: str) -> Timing:
    """First row of the timings that fits a Pulumi type; the last row fits every type. The row of the GPU gate is that
    of nodes with the GPU Operator's driver. If a recording of a real cluster has shown other minutes, the row has the
    recording's minutes.
    """
    return corrected(next(each for each in _timings() if each.fits(kind)))


def corrected(found: Timing) -> Timing:
    """A row with the minutes that a recording of a real cluster has shown of its type; the same row if none has."""
    for fact in reversed(seen_facts()):
        if (fact.about, fact.subject) == ("timing", found.type):
            shown = {"minutes": tuple(fact.seen), "source": fact.source, "date": fact.date, "published": True}
            return row(Timing, found.model_dump() | shown, f"seen.yaml: {found.type}")
    return found


def gpu_gate(minutes: Minutes | None = None) -> Timing:
    """Row of the GPU gate. `minutes`: those of a stack's own nodes; by default the sum of the steps of nodes with the
    GPU Operator's driver.
    """
    steps = [each for name in node_steps.UNTIL_GPUS if (each := node_steps.node_step(name, "operator")) is not None]
    low, high = (round(sum(each.minutes[case] for each in steps), 1) for case in (0, 1))
    return Timing(
        type=GPU_GATE,
        minutes=minutes or (low, high),
        published=all(each.published for each in steps),
        source=f"the node's steps in {node_steps.FILE}, one after the other",
        date=min(each.date for each in steps),
    )


def reference() -> Reference:
    """Duration that another project has published for its deployment, for a comparison with deployments of this
    project.
    """
    return row(Reference, read_mapping(DATA / FILE)["reference"], f"{FILE}: reference")


@lru_cache(maxsize=1)
def _timings() -> tuple[Timing, ...]:
    rows = tuple(row(Timing, each, f"{FILE}: {each.get('type')}") for each in read_mapping(DATA / FILE)["steps"])
    if rows[-1].type != "*":
        raise CatalogError(f"{FILE}: the last row has to fit every type")
    if wrong := [each.type for each in rows if each.minutes[0] > each.minutes[1]]:
        raise CatalogError(f"{FILE}: slower than the slowest: {', '.join(wrong)}")
    return (gpu_gate(), *rows)
