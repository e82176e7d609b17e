"""The DRA driver for NVIDIA GPUs, and the device classes, namespaces and claims of a stack."""

from __future__ import annotations

from components.kubernetes.chart_part import ChartPart
from components.kubernetes.objects import declare
from parts.dra.plan import DraPlan
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE


class DraDriver(ChartPart):
    """The DRA driver's release, and the stack's device classes, namespaces and claims. The claims are created after all
    classes and namespaces.
    """

    def after(self) -> None:
        plan, target = self.args.plan, self.args.target
        assert isinstance(plan, DraPlan)
        classes = declare(self.name, self, target, plan.objects.classes)
        spaces = declare(self.name, self, target, plan.objects.namespaces)
        first = [*classes, *spaces, *self.namespaces(OPERATOR_NAMESPACE)]
        declare(self.name, self, target, plan.objects.claims, after=first)


COMPONENT = DraDriver
