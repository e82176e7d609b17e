"""Secrets of OSMO's control plane: generated once, kept in the vault, and mounted by the control plane's Pods."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from components.azure.random_values import RandomBytes, generated_password
from components.data.vault import Vault
from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.release_upgrades import kept_key
from physical_ai.catalog import osmo_service as names
from physical_ai.catalog.osmo import CONTROL_NAMESPACE
from physical_ai.planning.service_chart import mek_file, redis_password
from physical_ai.settings import Settings
from physical_ai.settings.facts.osmo_access import MEK_SECRET, OIDC_SECRET, TLS_CERTIFICATE, TLS_KEY
from physical_ai.settings.secrets import Secrets

KEPT_MEK, KEPT_ADMIN = "osmo-mek", "osmo-admin-password"
"""Names of the secrets in the key vault: the master encryption key, and the administrator's password."""


@dataclass(frozen=True)
class ControlPlaneSecretsArgs:
    target: ClusterTarget
    settings: Settings
    given: Secrets
    """The stack's secrets, by name."""
    postgres_password: pulumi.Output[str]
    redis_key: pulumi.Output[str]
    vault: Vault | None
    """Vault that stores the secrets; None in a stack without a vault."""
    namespace: kubernetes.core.v1.Namespace


class ControlPlaneSecrets(pulumi.ComponentResource):
    """The Kubernetes Secrets of OSMO's control plane, one of them with the master encryption key (MEK).

    The MEK is never changed in place: OSMO could not decrypt the content of its database with another key. In a stack
    with a vault, the vault stores the MEK too. A stack with the secret `osmoMek` uses this secret instead of a
    generated key, for a cluster that is created again over a restored database.

    Attributes:
        objects: resources that must exist before the release.
    """

    objects: list[pulumi.Resource]

    def __init__(self, name: str, args: ControlPlaneSecretsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:osmo:ControlPlaneSecrets", name, {}, opts)
        self._name, self._args = name, args
        child = pulumi.ResourceOptions(parent=self)
        access = args.settings.osmo.access
        admin = _password(f"{name}-admin-password", names.ADMIN_LENGTH, access.admin_password_generation, child)
        self.objects = [
            self._secret(names.POSTGRES_SECRET, {names.POSTGRES_KEY: args.postgres_password}),
            self._secret(names.REDIS_SECRET, {names.REDIS_KEY: args.redis_key.apply(redis_password)}),
            self._secret(names.ADMIN_SECRET, {names.ADMIN_KEY: admin}),
            *self._encryption_key(child),
            *([args.vault.keep(KEPT_ADMIN, admin)] if args.vault is not None else []),
        ]
        if access.login == "entra":
            cookie = _password(f"{name}-cookie-key", names.COOKIE_LENGTH, access.cookie_key_generation, child)
            login = {names.OAUTH2_CLIENT_KEY: args.given[OIDC_SECRET], names.OAUTH2_COOKIE_KEY: cookie}
            self.objects.append(self._secret(names.OAUTH2_SECRET, login))
        if access.tls is not None and access.tls.source == "stack":
            pair = {"tls.crt": args.given[TLS_CERTIFICATE], "tls.key": args.given[TLS_KEY]}
            self.objects.append(self._secret(access.tls.secret_name, pair, "kubernetes.io/tls"))
        self.register_outputs({})

    def _secret(self, secret: str, data: dict[str, pulumi.Output[str]], kind: str = "Opaque") -> pulumi.Resource:
        return kubernetes.core.v1.Secret(
            f"{self._name}-{secret}",
            metadata={"name": secret, "namespace": CONTROL_NAMESPACE},
            type=kind,
            string_data=data,
            opts=self._args.target.options(self, [self._args.namespace]),
        )

    def _encryption_key(self, child: pulumi.ResourceOptions) -> list[pulumi.Resource]:
        args = self._args
        generated = RandomBytes(
            f"{self._name}-mek",
            length=names.MEK_BYTES,
            opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(ignore_changes=["length"])),
        )
        given = args.given.get(MEK_SECRET)
        file = generated.base64.apply(mek_file) if given is None else given
        kept: list[pulumi.Resource] = []
        if args.vault is not None:
            kept = [args.vault.keep(KEPT_MEK, file, [kept_key(f"{self._name}-mek-kept")])]
        options = args.target.options(self, [args.namespace, *kept])
        options.ignore_changes = ["data", "stringData"]
        secret = kubernetes.core.v1.Secret(
            f"{self._name}-{names.MEK_SECRET_NAME}",
            metadata={"name": names.MEK_SECRET_NAME, "namespace": CONTROL_NAMESPACE},
            string_data={names.MEK_FILE: pulumi.Output.secret(file)},
            opts=options,
        )
        # The chart mounts the ConfigMap with every setting.
        config = kubernetes.core.v1.ConfigMap(
            f"{self._name}-{names.MEK_CONFIG}",
            metadata={"name": names.MEK_CONFIG, "namespace": CONTROL_NAMESPACE},
            data={names.MEK_FILE: names.NO_MEK},
            opts=args.target.options(self, [args.namespace]),
        )
        return [*kept, secret, config]


def _password(name: str, length: int, generation: int, opts: pulumi.ResourceOptions) -> pulumi.Output[str]:
    return generated_password(f"{name}-{{}}", length, generation, opts, first=name)
