"""OSMO's control plane: its identity, its secrets, and the release of chart `service`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import pulumi
import pulumi_kubernetes as kubernetes

from components.azure.roles import assign_role
from components.azure.workload_identity import IdentityPlace, WorkloadIdentity, WorkloadIdentityArgs
from components.data.endpoints import DataEndpoints
from components.data.services import DataServices
from components.kubernetes.charts import InstalledRelease, release_options
from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.release_upgrades import checked_osmo
from components.osmo.control_plane_secrets import ControlPlaneSecrets, ControlPlaneSecretsArgs
from physical_ai.catalog.aks import Role
from physical_ai.catalog.osmo import CONTROL_NAMESPACE
from physical_ai.catalog.osmo_service import SERVICE_ACCOUNT
from physical_ai.planning.osmo import OsmoRelease
from physical_ai.planning.service_chart import Attached, attached
from physical_ai.settings import Settings
from physical_ai.settings.facts.naming import Names
from physical_ai.settings.facts.osmo_access import TLS_CERTIFICATE
from physical_ai.settings.secrets import Secrets

TIMEOUT_SECONDS = 900
DATA = "data"
"""Name of the storage container that tasks read and write with their own identity."""


@dataclass(frozen=True)
class ControlPlaneArgs:
    target: ClusterTarget
    settings: Settings
    release: OsmoRelease
    secrets: Secrets
    data: DataEndpoints
    names: Names
    subscription_id: str
    identities: IdentityPlace | None
    """Resource group and token issuer for the identity with which Pods read Azure storage; None where Pods use keys."""
    namespace: kubernetes.core.v1.Namespace
    after: Sequence[pulumi.Resource] = ()
    """Other resources that the control plane's Pods need: DNS names of the data services, the gateway's
    certificate.
    """


class ControlPlane(pulumi.ComponentResource):
    """OSMO's control plane in the namespace `osmo-control-plane`, connected to the stack's data services.

    Attributes:
        release: the Helm release; its Pods may still be starting.
        installed: the release by its name.
        identity: identity of the control plane's Pods; None where their storage takes keys.
    """

    release: kubernetes.helm.v3.Release
    installed: Mapping[str, InstalledRelease]
    identity: WorkloadIdentity | None

    def __init__(self, name: str, args: ControlPlaneArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:osmo:ControlPlane", name, {}, opts)
        self.identity, roles = None, list[pulumi.Resource]()
        if (account := args.data.storage_account) is not None and args.identities is not None:
            self.identity, role = self._identity(name, args, account, args.identities)
            roles = [role]
        secrets = ControlPlaneSecrets(
            f"{name}-secrets",
            ControlPlaneSecretsArgs(
                target=args.target,
                settings=args.settings,
                given=args.secrets,
                postgres_password=args.data.postgres_password,
                redis_key=args.data.redis_key,
                vault=args.data.vault,
                namespace=args.namespace,
            ),
            pulumi.ResourceOptions(parent=self),
        )
        self.release = kubernetes.helm.v3.Release(
            f"{name}-release",
            name=args.release.name,
            namespace=args.release.namespace,
            **release_options(args.release.chart, args.settings.charts.source, skip_await=True),
            values=attached(args.release.values, self._attached(args)),
            timeout=TIMEOUT_SECONDS,
            opts=args.target.options(
                self,
                [args.namespace, *secrets.objects, *roles, *args.data.after, *args.after],
                [checked_osmo(f"{name}-upgrade", args.settings.osmo.image_tag)],
            ),
        )
        self.installed = {
            args.release.name: InstalledRelease(self.release, args.release.chart.version, args.release.namespace)
        }
        self.register_outputs({"clientId": self._client_id})

    @property
    def _client_id(self) -> pulumi.Output[str] | None:
        return self.identity.identity.client_id if self.identity is not None else None

    def _identity(
        self, name: str, args: ControlPlaneArgs, account: pulumi.Input[str], place: IdentityPlace
    ) -> tuple[WorkloadIdentity, pulumi.Resource]:
        """Declares the identity of the control plane's Pods, with its role on the storage account."""
        child = pulumi.ResourceOptions(parent=self)
        identity = WorkloadIdentity(
            f"{name}-identity",
            WorkloadIdentityArgs(
                identity_name=args.names.identity("osmo-control-plane"),
                resource_group_name=place.resource_group_name,
                location=args.settings.region,
                tags=args.settings.tags,
                issuer_url=place.issuer_url,
                accounts=((CONTROL_NAMESPACE, SERVICE_ACCOUNT),),
            ),
            child,
        )
        role = assign_role(
            f"{name}-storage-role",
            role=Role.BLOB_DATA_CONTRIBUTOR,
            scope=account,
            principal_id=identity.identity.principal_id,
            principal_type="ServicePrincipal",
            subscription_id=args.subscription_id,
            opts=child,
        )
        return identity, role

    def _attached(self, args: ControlPlaneArgs) -> Attached:
        data = args.data
        return Attached(
            postgres_host=data.postgres_host,
            postgres_port=data.postgres_port,
            postgres_database=data.postgres_database,
            postgres_user=data.postgres_user,
            redis_host=data.redis_host,
            redis_port=data.redis_port,
            storage=data.storage,
            client_id=self._client_id,
            certificate=_digest(args),
        )


def _digest(args: ControlPlaneArgs) -> pulumi.Output[str] | None:
    """SHA-256 digest of the gateway's certificate; None if the certificate does not come from the stack's secrets. The
    private key is not part of the digest, so the digest need not be secret.
    """
    tls = args.settings.osmo.access.tls
    if tls is None or tls.source != "stack":
        return None
    return pulumi.Output.unsecret(args.secrets[TLS_CERTIFICATE].apply(lambda text: sha256(text.encode()).hexdigest()))


def share_data(
    name: str, data: DataServices, principal_id: pulumi.Input[str], subscription_id: str, opts: pulumi.ResourceOptions
) -> pulumi.Resource:
    """Assigns `principal_id` a role to read and write the storage container with the tasks' data, and no other
    container.

    The Pods of tasks have no storage keys: OSMO gives them the container's address, and they log in with their
    identity.
    """
    account, container = data.storage.storage_account.id, data.storage.containers[DATA]
    return assign_role(
        name,
        role=Role.BLOB_DATA_CONTRIBUTOR,
        scope=pulumi.Output.concat(account, "/blobServices/default/containers/", container),
        principal_id=principal_id,
        principal_type="ServicePrincipal",
        subscription_id=subscription_id,
        opts=opts,
    )
