"""Whether each declared flow is as it has to be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from physical_ai.policies.flows.declared import FLOWS, Flow, Required
from physical_ai.policies.flows.paths import Way, ways
from physical_ai.policies.flows.world import read
from physical_ai.policies.model import Resource, Stack


@dataclass(frozen=True)
class Judgement:
    """One connection of a flow: to one port of one target."""

    flow: Flow
    way: Way

    @property
    def holds(self) -> bool:
        """Whether it is as it has to be, or not known yet."""
        if self.way.verdict.open is None or self.flow.must is Required.TOLERATED:
            return True
        return self.way.verdict.open is (self.flow.must is Required.OPEN)

    @property
    def resource(self) -> Resource | None:
        """The one that decides it, or else the target."""
        return self.way.verdict.resource or self.way.resource

    def __str__(self) -> str:
        state = {True: "open", False: "closed", None: "unknown"}[self.way.verdict.open]
        return f"{self.flow.source} → {self.way.target}, port {self.way.port}: {state}, by {self.way.verdict.by}"


def judge(stack: Stack) -> list[Judgement]:
    """Every connection of every flow that the stack has, in the order of `declared.yaml`."""
    return list(_judge(stack))


def _judge(stack: Stack) -> Iterator[Judgement]:
    world = read(stack.resources)
    for flow in FLOWS:
        for way in ways(world, flow):
            yield Judgement(flow, way)
