"""What has to be there before a pipeline can deploy: state, keys, identities. Pure: steps as lines for a shell."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from physical_ai.policies.data_services import AUDIENCE
from physical_ai.preflight.needs import namespaces

ISSUER = "https://token.actions.githubusercontent.com"
GROUP = "rg-physical-ai-delivery"
KEPT_DAYS = 30
"""How long a deleted or overwritten state can be had back."""
OWN_NAMESPACES = ("Microsoft.KeyVault", "Microsoft.Storage")

HEAD = (
    "#!/usr/bin/env bash",
    "# Made by `physai bootstrap`. Read it, then run it: nothing has been done yet.",
    "set -euo pipefail",
)
SUBSCRIPTION_ROLES = ("Contributor", "Role Based Access Control Administrator")
"""Of an identity that deploys: resources, and the role assignments among them."""
PREVIEW_ROLES = ("Reader", "Azure Kubernetes Service Cluster User Role", "Azure Kubernetes Service RBAC Reader")
"""Of an identity that only previews and looks for drift."""
STATE_WRITER, STATE_READER = "Storage Blob Data Contributor", "Storage Blob Data Reader"
KEY_USER, KEY_MAKER = "Key Vault Crypto User", "Key Vault Crypto Officer"


class WrongAnswer(ValueError):
    """A value that can't be used; the text says which and what would do."""


@dataclass(frozen=True)
class Delivery:
    """Where the pipelines' own things are. Raises WrongAnswer for names that Azure or GitHub would not take."""

    subscription: str
    repository: str
    """On GitHub, as `owner/name`."""
    location: str
    environments: tuple[str, ...]
    stacks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _must(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", self.subscription, "a subscription id, a GUID")
        _must(r"[\w.-]+/[\w.-]+", self.repository, "a repository, as owner/name")
        _must(r"[a-z]+[0-9]*", self.location, "a region, as westus2")
        for environment in self.environments:
            _must(r"[a-z][a-z0-9]*", environment, "an environment, as dev")

    @property
    def suffix(self) -> str:
        """Makes names that have to be unique in all Azure: the same each time for one subscription and repository."""
        return hashlib.sha256(f"{self.subscription}/{self.repository}".lower().encode()).hexdigest()[:8]

    @property
    def account(self) -> str:
        return f"stphysai{self.suffix}"

    @property
    def vault(self) -> str:
        return f"kv-physai-{self.suffix}"

    @property
    def scope(self) -> str:
        return f"/subscriptions/{self.subscription}"

    def state(self, environment: str) -> str:
        """The backend's address, which `pulumi login` takes."""
        return f"azblob://state-{environment}?storage_account={self.account}"

    def secrets_provider(self, environment: str) -> str:
        return f"azurekeyvault://{self.vault}.vault.azure.net/keys/pulumi-{environment}"

    def container_scope(self, environment: str) -> str:
        account = f"{self.scope}/resourceGroups/{GROUP}/providers/Microsoft.Storage/storageAccounts/{self.account}"
        return f"{account}/blobServices/default/containers/state-{environment}"

    def key_scope(self, environment: str) -> str:
        vault = f"{self.scope}/resourceGroups/{GROUP}/providers/Microsoft.KeyVault/vaults/{self.vault}"
        return f"{vault}/keys/pulumi-{environment}"


@dataclass(frozen=True)
class Step:
    """One thing to do, why, and the lines that do it."""

    title: str
    why: str
    lines: tuple[str, ...]


def steps(delivery: Delivery) -> list[Step]:
    """Everything in order. Each line may be run again: what is there already stays as it is."""
    return [*_shared(delivery), *(step for each in delivery.environments for step in _environment(delivery, each))]


def script(delivery: Delivery) -> str:
    """The steps as a Bash script that stops at the first failure and tells what it does."""
    return "\n".join([*HEAD, *map(_told, steps(delivery))]) + "\n"


def _told(step: Step) -> str:
    return "\n".join(["", f"# {step.title}", f"# {step.why}", f"echo {shlex.quote(step.title)}", *step.lines])


def _shared(delivery: Delivery) -> Iterator[Step]:
    group = ("--resource-group", GROUP)
    yield Step(
        "Choose the subscription",
        "Everything below happens there.",
        (_az("account", "set", "--subscription", delivery.subscription),),
    )
    yield Step(
        "Register the resource providers",
        "A subscription that has never seen a service refuses it; registering takes minutes and costs nothing.",
        tuple(_az("provider", "register", "--namespace", each) for each in sorted({*namespaces(), *OWN_NAMESPACES})),
    )
    yield Step(
        "Make a group for the pipelines' own things",
        "They outlive every stack, so no stack owns them.",
        (_az("group", "create", "--name", GROUP, "--location", delivery.location),),
    )
    account = ("--account-name", delivery.account)
    yield Step(
        "Make the account for state",
        f"No key works on it, only identities do. What is overwritten or deleted can be had back for {KEPT_DAYS} days.",
        (
            _az("storage", "account", "create", "--name", delivery.account, *group, "--location", delivery.location)
            + " --sku Standard_ZRS --kind StorageV2 --min-tls-version TLS1_2"
            + " --allow-blob-public-access false --allow-shared-key-access false",
            _az("storage", "account", "blob-service-properties", "update", *account, *group)
            + " --enable-versioning true"
            + f" --enable-delete-retention true --delete-retention-days {KEPT_DAYS}"
            + f" --enable-container-delete-retention true --container-delete-retention-days {KEPT_DAYS}",
        ),
    )
    vault = ("--name", delivery.vault)
    scope = f"{delivery.scope}/resourceGroups/{GROUP}/providers/Microsoft.KeyVault/vaults/{delivery.vault}"
    yield Step(
        "Make the vault for the keys that encrypt secrets in state",
        "Without the key a state's secrets are lost, so it can't be purged. Making keys takes a role of its own.",
        (
            f"{_az('keyvault', 'show', *vault, *group)} >/dev/null 2>&1 || "
            + _az("keyvault", "create", *vault, *group, "--location", delivery.location)
            + " --enable-rbac-authorization true --enable-purge-protection true",
            'ME="$(az ad signed-in-user show --query id --output tsv)"',
            _assign('"$ME"', "User", KEY_MAKER, scope),
        ),
    )


def _environment(delivery: Delivery, environment: str) -> Iterator[Step]:
    key = ("--vault-name", delivery.vault, "--name", f"pulumi-{environment}")
    container = ("--storage-account", delivery.account, "--resource-group", GROUP, "--name", f"state-{environment}")
    yield Step(
        f"{environment}: state and key",
        "Each environment has its own: what may read dev's can't read prod's. A new role takes minutes to work.",
        (
            _az("storage", "container-rm", "create", *container),
            _assign('"$ME"', "User", STATE_WRITER, delivery.container_scope(environment)),
            f"{_az('keyvault', 'key', 'show', *key)} >/dev/null 2>&1 || "
            f"for attempt in {{1..20}}; do {_az('keyvault', 'key', 'create', *key)} --kty RSA --size 3072 && break; "
            '[ "$attempt" -lt 20 ] || exit 1; sleep 15; done',
        ),
    )
    yield from _identity(delivery, environment, environment, SUBSCRIPTION_ROLES, STATE_WRITER)
    yield from _identity(delivery, environment, f"{environment}-preview", PREVIEW_ROLES, STATE_READER)
    select = "pulumi stack select {0} || pulumi stack init {0} --secrets-provider {1}"
    stacks = [stack for stack in delivery.stacks if stack.startswith(f"{environment}-")]
    if stacks:
        provider = shlex.quote(delivery.secrets_provider(environment))
        yield Step(
            f"{environment}: stacks",
            "Each gets its place in the state. Commit what this writes into its file: secretsprovider, encryptedkey.",
            (
                shlex.join(["pulumi", "login", delivery.state(environment)]),
                *(select.format(each, provider) for each in stacks),
            ),
        )


def _identity(
    delivery: Delivery, environment: str, github: str, roles: Sequence[str], state_role: str
) -> Iterator[Step]:
    name = f"id-physical-ai-{github}"
    of = ("--resource-group", GROUP, "--name", name)
    credential = ("--identity-name", name, "--resource-group", GROUP, "--name", "github", "--issuer", ISSUER)
    subject = f"repo:{delivery.repository}:environment:{github}"
    scopes = [*((role, delivery.scope) for role in roles), (state_role, delivery.container_scope(environment))]
    yield Step(
        f"{github}: identity",
        f"Only jobs of {delivery.repository} in the GitHub environment {github} can be it; there is no secret to keep.",
        (
            _az("identity", "create", *of, "--location", delivery.location),
            _az(
                "identity", "federated-credential", "create", *credential, "--subject", subject, "--audiences", AUDIENCE
            ),
            f'PRINCIPAL="$({_az("identity", "show", *of, "--query", "principalId", "--output", "tsv")})"',
            *(_assign('"$PRINCIPAL"', "ServicePrincipal", role, scope) for role, scope in scopes),
            _assign('"$PRINCIPAL"', "ServicePrincipal", KEY_USER, delivery.key_scope(environment)),
        ),
    )
    variables = {
        "AZURE_CLIENT_ID": f'"$({_az("identity", "show", *of, "--query", "clientId", "--output", "tsv")})"',
        "AZURE_TENANT_ID": '"$(az account show --query tenantId --output tsv)"',
        "AZURE_SUBSCRIPTION_ID": delivery.subscription,
        "PULUMI_STATE": shlex.quote(delivery.state(environment)),
    }
    place = f"--env {github} --repo {delivery.repository}"
    yield Step(
        f"{github}: GitHub environment",
        "Jobs get these variables, none of them secret; from protected branches only. Add reviewers in its settings.",
        (
            f"gh api --method PUT repos/{delivery.repository}/environments/{github}"
            " -F 'deployment_branch_policy[protected_branches]=true'"
            " -F 'deployment_branch_policy[custom_branch_policies]=false' >/dev/null",
            *(f"gh variable set {key} {place} --body {value}" for key, value in variables.items()),
        ),
    )


def _az(*words: str) -> str:
    return shlex.join(["az", *words])


def _assign(principal: str, kind: str, role: str, scope: str) -> str:
    line = f"az role assignment create --assignee-object-id {principal} --assignee-principal-type {kind}"
    return f"{line} --role {shlex.quote(role)} --scope {shlex.quote(scope)}"


def _must(pattern: str, value: str, what: str) -> None:
    if not re.fullmatch(pattern, value):
        raise WrongAnswer(f"{value!r} is not {what}")
