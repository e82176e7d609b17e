"""OSMO: data services in the cluster, the control plane, tokens, and the namespaces with scheduler and agents."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi

from components.azure.account import azure_tenant
from components.data.endpoints import DataEndpoints
from components.gpu.admission import GpuAdmission
from components.osmo.backend_tokens import BackendTokens, BackendTokensArgs, fetching_login
from components.osmo.control_plane import ControlPlane, ControlPlaneArgs, share_data
from components.osmo.gateway_certificate import GatewayCertificate, GatewayCertificateArgs
from components.osmo.osmo import Osmo, OsmoArgs
from components.osmo.osmo_token import VaultLogin
from components.osmo.warm_nodes import WarmNodes, WarmNodesArgs
from components.platform.install_target import InstallTarget
from components.platform.parent import Parent
from components.platform.parts import InstalledParts
from components.platform.target_cluster import AzureResources
from parts.in_cluster_data.component import InClusterData
from physical_ai.catalog.osmo import CONTROL_NAMESPACE, KAI_RELEASE
from physical_ai.planning.gateway_certificate import gateway_certificate
from physical_ai.planning.osmo_backend import osmo_backend
from physical_ai.planning.osmo_service import values_files
from physical_ai.planning.osmo_token import osmo_token_objects
from physical_ai.planning.warm_nodes import warm_nodes
from physical_ai.settings import Loaded, Settings
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE
from physical_ai.settings.facts.naming import Names
from physical_ai.settings.facts.osmo import AGENT_TOKEN
from physical_ai.settings.facts.osmo_token import served_backends
from physical_ai.settings.secrets import Secrets


class OsmoStage:
    """OSMO as the settings ask for it: namespaces alone, agents of a control plane elsewhere, or the stack's own
    control plane.

    Attributes:
        control_plane: the stack's own control plane; None without `osmo.mode: platform`.
        tokens: secrets and identities with which other stacks' agents log in to the control plane; None if the stack
            serves no other stacks.
    """

    osmo: Osmo
    control_plane: ControlPlane | None = None
    tokens: BackendTokens | None = None

    def __init__(
        self,
        parent: Parent,
        loaded: Loaded,
        secrets: Secrets,
        subscription: str,
        *,
        azure: AzureResources | None,
        install: InstallTarget,
        parts: InstalledParts,
        admission: GpuAdmission,
    ) -> None:
        self.parent, self.subscription, self.azure, self.install = parent, subscription, azure, install
        settings, plan = loaded.settings, loaded.plan
        data = azure.services.data if azure is not None else None
        inside = parts.declare("services").get("in_cluster_data")
        endpoints = inside.endpoints if isinstance(inside, InClusterData) else data.endpoints() if data else None
        # The rules require data services for every stack with a control plane.
        if plan.control_plane is not None and endpoints is not None:
            ready = [*self._certificate(settings), *parts.ready("cert_manager")]
            self.control_plane = self._control_plane(loaded, secrets, endpoints, ready)
        self.tokens = self._tokens(settings, loaded.served)
        # Without a vault in Azure there is no place for the tokens of others.
        served = loaded.served if self.tokens is not None else ()
        self.osmo = Osmo(
            f"{parent.name}-osmo",
            OsmoArgs(
                target=install.target,
                settings=settings,
                backend=osmo_backend(settings, plan.osmo, has_token=AGENT_TOKEN in secrets),
                secrets=secrets,
                names=Names(settings.stack),
                identities=azure.identities if azure is not None else None,
                kubeconfig=install.kubeconfig,
                namespaces=install.namespaces,
                service_values=values_files(settings, served),
                admission=[admission],
                token=osmo_token_objects(settings, served),
                token_login=self.tokens.login if self.tokens is not None else self._fetching_login(settings),
                service=[self.control_plane.release] if self.control_plane is not None else [],
            ),
            parent.protected,
        )
        self._warm_nodes(settings)
        if plan.control_plane is not None and data is not None and self.osmo.workflows is not None:
            principal = self.osmo.workflows.identity.principal_id
            share_data(f"{parent.name}-workflow-data", data, principal, subscription, parent.unprotected)

    def _warm_nodes(self, settings: Settings) -> None:
        """Declares the Pods that keep nodes ready, if a pool asks for it. A rule requires KAI for it."""
        planned = warm_nodes(settings)
        if planned is None or KAI_RELEASE not in self.osmo.installed:
            return
        after = [self.osmo.installed[KAI_RELEASE].resource, self.install.namespaces[OPERATOR_NAMESPACE]]
        args = WarmNodesArgs(self.install.target, planned, after)
        # Not protected: nodes are given back in production, too.
        WarmNodes(f"{self.parent.name}-warm-nodes", args, self.parent.unprotected)

    def _certificate(self, settings: Settings) -> list[pulumi.Resource]:
        """Resources of the gateway's certificate; an empty list where the certificate is not in a key vault."""
        plan, azure = gateway_certificate(settings), self.azure
        if plan is None or azure is None:
            return []
        args = GatewayCertificateArgs(
            target=self.install.target,
            plan=plan,
            names=Names(settings.stack),
            resource_group_name=azure.network.group.name,
            location=settings.region,
            tags=settings.tags,
            issuer_url=azure.aks.cluster.oidc_issuer_url,
            tenant_id=azure_tenant(),
            subscription_id=self.subscription,
            namespace=self.install.namespaces[CONTROL_NAMESPACE],
        )
        return GatewayCertificate(f"{self.parent.name}-gateway-certificate", args, self.parent.protected).before

    def _control_plane(
        self, loaded: Loaded, secrets: Secrets, data: DataEndpoints, ready: Sequence[pulumi.Resource]
    ) -> ControlPlane | None:
        azure, release = self.azure, loaded.plan.control_plane
        if release is None:
            return None
        args = ControlPlaneArgs(
            target=self.install.target,
            settings=loaded.settings,
            release=release,
            secrets=secrets,
            data=data,
            names=Names(loaded.settings.stack),
            subscription_id=self.subscription,
            identities=azure.identities if azure is not None else None,
            namespace=self.install.namespaces[CONTROL_NAMESPACE],
            after=[*ready, *(azure.endpoints_ready if azure is not None else [])],
        )
        return ControlPlane(f"{self.parent.name}-control-plane", args, self.parent.protected)

    def _tokens(self, settings: Settings, served: Sequence[Settings]) -> BackendTokens | None:
        backends, azure = served_backends(served), self.azure
        if azure is None or azure.services.data is None or not backends or not settings.osmo.creates_token:
            return None
        args = BackendTokensArgs(
            vault=azure.services.data.vault,
            backends=backends,
            names=Names(settings.stack),
            resource_group_name=azure.network.group.name,
            location=settings.region,
            tags=settings.tags,
            issuer_url=azure.aks.cluster.oidc_issuer_url,
            subscription_id=self.subscription,
            tenant_id=azure_tenant(),
        )
        # Not protected: a backend that is no longer served loses its token.
        return BackendTokens(f"{self.parent.name}-backend-tokens", args, self.parent.unprotected)

    def _fetching_login(self, settings: Settings) -> VaultLogin | None:
        """Login with which this stack's Job fetches the agents' token from the vault of another stack; None if the
        token comes from elsewhere.
        """
        source, azure = settings.osmo.token_from, self.azure
        if azure is None or source is None or not settings.osmo.fetches_token:
            return None
        return fetching_login(
            f"{self.parent.name}-token-reader",
            source,
            stack=settings.stack,
            issuer_url=azure.aks.cluster.oidc_issuer_url,
            tenant_id=azure_tenant(),
            opts=self.parent.unprotected,
        )
