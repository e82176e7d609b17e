"""Script that prepares a subscription for pipelines: state, keys, identities. Pure functions that return its steps as
shell lines.

The script can be run again, also after an interruption: each step checks what exists. After an interruption, a trap
restores the locks.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from physical_ai.catalog.azure_identity import TOKEN_AUDIENCE
from physical_ai.subscription.needs import PREVIEW_ACTIONS
from workbench.cli.azure_commands import ASSIGNER_ROLE, assign, az
from workbench.cli.bootstrap_github import ScriptStep, protection
from workbench.cli.bootstrap_github import environment as github_environment
from workbench.cli.bootstrap_head import HEAD, LOCK
from workbench.cli.bootstrap_names import GROUP, Delivery, InvalidValue
from workbench.preflight.declared import READER, ForeignScope

ISSUER = "https://token.actions.githubusercontent.com"
KEPT_DAYS = 30
"""Number of days within which a deleted or overwritten state can be restored."""
OWN_NAMESPACES = ("Microsoft.KeyVault", "Microsoft.Storage")

DEPLOYER_ROLE = "Contributor"
PREVIEW_ROLES = ("Reader", "Azure Kubernetes Service Cluster User Role", "Azure Kubernetes Service RBAC Reader")
"""Built-in roles of an identity that only previews and detects drift."""
STATE_WRITER, STATE_READER = "Storage Blob Data Contributor", "Storage Blob Data Reader"
KEY_USER, KEY_MAKER = "Key Vault Crypto User", "Key Vault Crypto Officer"


@dataclass(frozen=True)
class Needs:
    """Requirements of an environment's stacks in Azure, derived from the resources that they declare."""

    providers: tuple[str, ...] = ()
    foreign: tuple[ForeignScope, ...] = ()


def deliveries(
    subscriptions: Mapping[str, str], repository: str, location: str, stacks: Sequence[str]
) -> list[Delivery]:
    """Names of the pipeline resources of each environment, each environment in its own subscription.

    Raises InvalidValue for an invalid name, and for a subscription that two environments would share. An environment's
    identity can write resources and assign roles in its whole subscription. In a shared subscription, dev's identity
    could make itself administrator of prod's cluster.
    """
    found: list[Delivery] = []
    for environment, subscription in subscriptions.items():
        same = [each.environment for each in found if each.subscription.lower() == subscription.lower()]
        if same:
            raise InvalidValue(
                f"{subscription} is the subscription of {same[0]} and of {environment}: what deploys one could change "
                "the other. Use a subscription for each environment"
            )
        own = tuple(stack for stack in stacks if stack.startswith(f"{environment}-"))
        found.append(Delivery(subscription, repository, location, environment, own))
    return found


def steps(delivered: Sequence[Delivery], needs: Mapping[str, Needs]) -> list[ScriptStep]:
    """All steps of the script, in order. Each step leaves existing resources as they are, so the script can be run
    again.
    """
    return [
        *protection(delivered[0].repository),
        *(
            step
            for each in delivered
            for step in (
                *_shared(each, needs[each.environment].providers),
                *_environment(each, each.environment),
                *_foreign(each, needs[each.environment].foreign),
                _lock(each),
            )
        ),
        _missing(),
    ]


def script(found: Sequence[ScriptStep]) -> str:
    """The steps as a Bash script that prints each step's title and stops at the first failure."""
    return "\n".join([*HEAD, *map(_script_lines, found)]) + "\n"


def _lock(delivery: Delivery) -> ScriptStep:
    return ScriptStep(
        f"{delivery.environment}: lock the delivery group",
        "The deploying identity could otherwise change its own storage account, key vault and federated credential.",
        (f"lock {delivery.subscription}", f'UNLOCKED="${{UNLOCKED/ {delivery.subscription}/}}"'),
    )


def _foreign(delivery: Delivery, scopes: Sequence[ForeignScope]) -> Iterator[ScriptStep]:
    """Steps that assign roles on resources of other subscriptions that the stacks use. Whoever may not assign these
    roles gives the commands to the owners of the resources.
    """
    deployer, reader = (_identity_name(delivery.environment + use) for use in ("", "-preview"))
    for each in scopes:
        scope = shlex.quote(each.scope)
        lines = [_principal(deployer), *(f"foreign {shlex.quote(role)} {scope}" for role in each.roles)]
        if each.reads:
            lines += [_principal(reader), f"foreign {READER} {scope}"]
        yield ScriptStep(
            f"{delivery.environment}: rights on {each.scope}",
            f"A stack {each.why}: {', '.join(each.resources)}. Who may not grant this gets the command for its owner.",
            tuple(lines),
        )


def _missing() -> ScriptStep:
    return ScriptStep(
        "Rights that the owners of other subscriptions have to grant",
        "Without them a deployment stops after it has made its cluster, and drift cannot be read.",
        (
            'if [ -n "$MISSING" ]; then',
            "  printf 'Not granted; ask the owner of each scope to run it:%s\\n' \"$MISSING\"",
            "else",
            '  echo "None."',
            "fi",
        ),
    )


def _script_lines(step: ScriptStep) -> str:
    return "\n".join(["", f"# {step.title}", f"# {step.why}", f"echo {shlex.quote(step.title)}", *step.lines])


def _shared(delivery: Delivery, providers: Sequence[str]) -> Iterator[ScriptStep]:
    group, own = ("--resource-group", GROUP), delivery.subscription
    locks = az("lock", "list", *group, "--query", f"[?name=='{LOCK}'].id", "--output", "tsv")
    yield ScriptStep(
        f"{delivery.environment}: choose the subscription",
        "All resources below are created there. The lock of an earlier run is removed until the end.",
        (
            az("account", "set", "--subscription", own),
            f'if [ "$({az("group", "exists", "--name", GROUP)})" = true ]; then',
            f'  UNLOCKED="$UNLOCKED {own}"',
            f'  LOCKS="$({locks})"',
            '  [ -z "$LOCKS" ] || az lock delete --ids "$LOCKS"',
            "fi",
        ),
    )
    yield ScriptStep(
        f"{delivery.environment}: register the resource providers",
        "A subscription refuses a service that is not registered. Those of its stacks; it takes minutes and is free.",
        tuple(az("provider", "register", "--namespace", each) for each in sorted({*providers, *OWN_NAMESPACES})),
    )
    yield ScriptStep(
        "Create a resource group for the pipelines",
        "Its resources outlive every stack, so no stack owns them.",
        (
            f"again {az('group', 'create', '--name', GROUP, '--location', delivery.location)}",
            f'UNLOCKED="${{UNLOCKED/ {own}/}} {own}"',
        ),
    )
    yield _preview_role(delivery)
    account = ("--account-name", delivery.account)
    yield ScriptStep(
        "Create the storage account for state",
        f"It accepts identities only, no keys. Overwritten and deleted state can be restored for {KEPT_DAYS} days.",
        (
            az("storage", "account", "create", "--name", delivery.account, *group, "--location", delivery.location)
            + " --sku Standard_ZRS --kind StorageV2 --min-tls-version TLS1_2"
            + " --allow-blob-public-access false --allow-shared-key-access false",
            az("storage", "account", "blob-service-properties", "update", *account, *group)
            + " --enable-versioning true"
            + f" --enable-delete-retention true --delete-retention-days {KEPT_DAYS}"
            + f" --enable-container-delete-retention true --container-delete-retention-days {KEPT_DAYS}",
        ),
    )
    vault = ("--name", delivery.vault)
    scope = f"{delivery.scope}/resourceGroups/{GROUP}/providers/Microsoft.KeyVault/vaults/{delivery.vault}"
    yield ScriptStep(
        "Create the key vault for the keys that encrypt secrets in state",
        "Without its key, the secrets of a state are lost, so purge protection is on. Creating keys needs a role.",
        (
            f"{az('keyvault', 'show', *vault, *group)} >/dev/null 2>&1 || "
            + az("keyvault", "create", *vault, *group, "--location", delivery.location)
            + " --enable-rbac-authorization true --enable-purge-protection true",
            'ME="$(az ad signed-in-user show --query id --output tsv)"',
            assign('"$ME"', "User", KEY_MAKER, scope),
        ),
    )


def _preview_role(delivery: Delivery) -> ScriptStep:
    name = delivery.preview_role
    definition = {
        "Name": name,
        "IsCustom": True,
        "Description": "Read the keys of caches, which previews compare.",
        "Actions": list(PREVIEW_ACTIONS),
        "NotActions": [],
        "AssignableScopes": [delivery.scope],
    }
    listed = az("role", "definition", "list", "--name", name, "--scope", delivery.scope, "--query", "[0].name")
    return ScriptStep(
        f"{delivery.environment}: create a role for previews",
        "No built-in role reads the key of a cache and no more. The state has the key too, which previews decrypt.",
        (
            f"ROLE={shlex.quote(json.dumps(definition))}",
            f'if [ -n "$({listed} --output tsv)" ]; then',
            '  az role definition update --role-definition "$ROLE" >/dev/null',
            "else",
            '  az role definition create --role-definition "$ROLE" >/dev/null',
            "fi",
        ),
    )


def _environment(delivery: Delivery, name: str) -> Iterator[ScriptStep]:
    key = ("--vault-name", delivery.vault, "--name", f"pulumi-{name}")
    container = ("--storage-account", delivery.account, "--resource-group", GROUP, "--name", f"state-{name}")
    yield ScriptStep(
        f"{name}: state and key",
        "Each environment has its own, so access to dev gives none to prod. A new role takes effect after minutes.",
        (
            az("storage", "container-rm", "create", *container),
            assign('"$ME"', "User", STATE_WRITER, delivery.container_scope(name)),
            f"{az('keyvault', 'key', 'show', *key)} >/dev/null 2>&1 || "
            f"again {az('keyvault', 'key', 'create', *key)} --kty RSA --size 3072",
        ),
    )
    yield from _identity(delivery, name, name, (DEPLOYER_ROLE, ASSIGNER_ROLE), STATE_WRITER)
    yield from _identity(delivery, name, f"{name}-preview", (*PREVIEW_ROLES, delivery.preview_role), STATE_READER)
    stacks = delivery.stacks
    if stacks:
        provider = shlex.quote(delivery.secrets_provider(name))
        yield ScriptStep(
            f"{name}: stacks",
            "Creates each stack in the state. Commit what this adds to its file: secretsprovider, encryptedkey.",
            (
                f"again {shlex.join(['pulumi', 'login', delivery.state(name)])}",
                *(f"again stack {each} {provider}" for each in stacks),
            ),
        )


def _identity(
    delivery: Delivery, environment: str, github: str, roles: Sequence[str], state_role: str
) -> Iterator[ScriptStep]:
    name = _identity_name(github)
    of = ("--resource-group", GROUP, "--name", name)
    credential = ("--identity-name", name, "--resource-group", GROUP, "--name", "github", "--issuer", ISSUER)
    subject = f'"$SUBJECT:environment:{github}"'
    scopes = [*((role, delivery.scope) for role in roles), (state_role, delivery.container_scope(environment))]
    yield ScriptStep(
        f"{github}: identity",
        f"Only jobs of {delivery.repository} in the GitHub environment {github} can use it; it has no secret.",
        (
            az("identity", "create", *of, "--location", delivery.location),
            # Replaces the credential that an earlier run has created.
            az("identity", "federated-credential", "create", *credential, "--audiences", TOKEN_AUDIENCE)
            + f" --subject {subject}",
            _principal(name),
            *(_assigned(role, scope) for role, scope in scopes),
            _assigned(KEY_USER, delivery.key_scope(environment)),
            f'echo "stacks/layers/env/{environment}.yaml needs, under access.{_list(github)}: '
            f'{{principalId: $PRINCIPAL, principalType: ServicePrincipal{_role(github)}}}"',
        ),
    )
    variables = {
        "AZURE_CLIENT_ID": f'"$({az("identity", "show", *of, "--query", "clientId", "--output", "tsv")})"',
        "AZURE_TENANT_ID": '"$(az account show --query tenantId --output tsv)"',
        "AZURE_SUBSCRIPTION_ID": delivery.subscription,
        "AZURE_SUBJECT": subject,
        "PULUMI_STATE": shlex.quote(delivery.state(environment)),
    }
    yield github_environment(delivery.repository, github, variables)


def _identity_name(github: str) -> str:
    return f"id-physical-ai-{github}"


def _principal(identity: str) -> str:
    """Shell line that sets PRINCIPAL to the object id of an identity."""
    shown = az("identity", "show", "--resource-group", GROUP, "--name", identity, "--query", "principalId")
    return f'PRINCIPAL="$({shown} --output tsv)"'


def _assigned(role: str, scope: str) -> str:
    if role == ASSIGNER_ROLE:
        return f'again assign_limited "$PRINCIPAL" {shlex.quote(scope)}'
    return "again " + assign('"$PRINCIPAL"', "ServicePrincipal", role, scope)


def _list(github: str) -> str:
    return "principals" if github.endswith("-preview") else "deployers"


def _role(github: str) -> str:
    return ", role: drift-reader" if github.endswith("-preview") else ""
