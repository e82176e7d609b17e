"""Component class for optional parts. It declares a part's Helm releases, and the Kubernetes objects before and after
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components.azure.workload_identity import IdentityPlace
from components.kubernetes.charts import InstalledRelease, release_options
from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.objects import declare
from parts.part import Part, PartPlan, ReleasePlan, SecretPlan
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.secrets import Secrets


@dataclass(frozen=True)
class AzurePlace:
    """Azure resources that a part's own resources refer to."""

    identities: IdentityPlace
    subscription_id: str
    cluster_id: pulumi.Input[str]
    pools: Mapping[str, pulumi.Resource]
    """Node pools that exist for an optional part, such as the pool of GitHub runners, by name."""


@dataclass(frozen=True)
class ChartPartArgs:
    part: Part
    plan: PartPlan
    settings: Settings
    target: ClusterTarget
    namespaces: Mapping[str, kubernetes.core.v1.Namespace]
    """The platform's namespaces, by name."""
    secrets: Secrets
    after: Sequence[pulumi.Resource]
    """Releases that must exist before the part's own releases."""
    azure: AzurePlace | None = None
    """The Azure resources of the stack; None on a cluster that the stack does not create."""


class ChartPart(pulumi.ComponentResource):
    """An optional part in the cluster. The component declares first the objects and Secrets that the part's Helm
    releases need, then the releases, and then the objects whose CRDs the releases install.

    A part that needs other resources too has a subclass, which declares them in `before` and `after`.

    Attributes:
        installed: the Helm releases, by name.
    """

    installed: Mapping[str, InstalledRelease]

    def __init__(self, name: str, args: ChartPartArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(args.part.resource_type, name, {}, opts)
        self.name, self.args = name, args
        self.releases: dict[str, kubernetes.helm.v3.Release] = {}
        before = self.before()
        for release in args.plan.releases:
            own = self.releases[release.key] = self.declare_release(release, before)
            self._objects(f"{self.name}-{release.key}", release.objects, [own])
        self.after()
        self.installed = {
            each.name: InstalledRelease(self.releases[each.key], each.chart.version, each.namespace)
            for each in args.plan.releases
        }
        self.register_outputs(self.reported())

    def before(self) -> list[pulumi.Resource]:
        """Declares the resources that the releases depend on, and returns them."""
        of_releases = [space for release in self.args.plan.releases for space in release.namespaces]
        spaces = self.namespaces(*(of_releases or self.args.part.namespaces))
        objects = declare(self.name, self, self.args.target, self.args.plan.before, after=spaces)
        return [*objects, *(self._secret(each, spaces) for each in self.args.plan.secrets)]

    def after(self) -> None:
        """Declares the objects that come after the releases."""
        self._objects(self.name, self.args.plan.after, [*self.releases.values()])

    def ready(self) -> list[pulumi.Resource]:
        """Resources that other components have to wait for before they use the part."""
        return [*self.releases.values()]

    def reported(self) -> dict[str, Any]:
        """Outputs of the component."""
        releases = self.args.plan.releases
        return {"version": releases[0].chart.version} if releases else {}

    def known_after(self, key: str, value: Mapping[str, Any]) -> pulumi.Output[Mapping[str, Any]]:
        """Returns `value` as an output that is known only after the release `key`. `value` is a field of an object
        whose CRD the release installs.

        A preview checks an object against its CRD once all fields are known, and before the release the CRD does not
        exist.
        """
        return self.releases[key].status.apply(lambda _: value)

    def namespaces(self, *names: str) -> list[pulumi.Resource]:
        """Namespace resources with the given `names`: each once, in the order of `names`."""
        return [self.args.namespaces[name] for name in dict.fromkeys(names)]

    def options(self, after: Sequence[pulumi.Resource]) -> pulumi.ResourceOptions:
        """Resource options of an object that the part declares in the cluster; the object is created after `after`."""
        return self.args.target.options(self, list(after))

    def _secret(self, plan: SecretPlan, after: Sequence[pulumi.Resource]) -> kubernetes.core.v1.Secret:
        return kubernetes.core.v1.Secret(
            f"{self.name}-{plan.key}",
            metadata={"name": plan.name, "namespace": plan.namespace},
            string_data={key: self.args.secrets[secret] for key, secret in plan.data.items()},
            opts=self.options(after),
        )

    def _objects(self, name: str, items: Sequence[Mapping[str, Any]], after: Sequence[pulumi.Resource]) -> None:
        for item in items:
            # `apiextensions.CustomResource` has no arguments for fields outside of `spec`.
            pulumi.CustomResource(
                f"kubernetes:{item['apiVersion']}:{item['kind']}",
                f"{name}-{item['kind'].lower()}",
                dict(item),
                self.options(after),
            )

    def declare_release(self, plan: ReleasePlan, after: Sequence[pulumi.Resource]) -> kubernetes.helm.v3.Release:
        """Declares a Helm release, which waits for its namespaces, for the resources in `after`, for the resources that
        the whole part waits for, and for the releases that it needs.
        """
        earlier = [self.releases[key] for key in plan.needs]
        return kubernetes.helm.v3.Release(
            f"{self.name}-{plan.key}",
            name=plan.name,
            namespace=plan.namespace,
            **release_options(plan.chart, self.args.settings.charts.source, skip_await=plan.skip_await),
            values=plan.values,
            timeout=plan.timeout_seconds,
            opts=self.options([*self.namespaces(*plan.namespaces), *after, *self.args.after, *earlier]),
        )
