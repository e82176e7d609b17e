"""Judgement of each flow of `declared.yaml` in a stack."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.policies.flows.declared import FLOWS, Flow, Required
from workbench.policies.flows.paths import ways
from workbench.policies.flows.ways import Way
from workbench.policies.flows.world import World, read
from workbench.policies.model import Resource, Stack


@dataclass(frozen=True)
class Judgement:
    """Judgement of one connection of a flow in the stack. A flow has one connection for each port of each target."""

    flow: Flow
    way: Way

    @property
    def holds(self) -> bool:
        """True if the connection is in the state that the flow must have, or if its state is not known yet."""
        if self.way.verdict.open is None or self.flow.must in (Required.TOLERATED, Required.ASKED):
            return True
        return self.way.verdict.open is (self.flow.must is Required.OPEN)

    @property
    def resource(self) -> Resource | None:
        """Resource for a finding about the connection: the resource that decides the verdict; else the target's
        resource; else the first resource on the way. None if none of them is known.
        """
        hops = (each.resource for each in self.way.hops if each.resource is not None)
        return self.way.verdict.resource or self.way.resource or next(hops, None)

    def __str__(self) -> str:
        return (
            f"{self.flow.source} → {self.way.target}, port {self.way.port}: {state_of(self)}, by {self.way.verdict.by}"
        )


def state_of(judged: Judgement) -> str:
    """State of a connection: `open`, `closed` or `unknown`."""
    return {True: "open", False: "closed", None: "unknown"}[judged.way.verdict.open]


def judge_world(world: World) -> list[Judgement]:
    """Judgements of every connection of every flow, in the order of `declared.yaml`."""
    return [Judgement(flow, way) for flow in FLOWS for way in ways(world, flow)]


def judge(stack: Stack) -> list[Judgement]:
    """Judgements of every connection of every flow that the stack has, in the order of `declared.yaml`."""
    return judge_world(read(stack.resources))
