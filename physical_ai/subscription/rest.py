"""Client of Azure's REST API for the questions that `physai check` asks. Most questions need a GET request, some a POST
request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from physical_ai.settings.facts.naming import Names
from physical_ai.subscription.answers import (
    NotThere,
    Permission,
    PostgresOffer,
    SizeOffer,
    Sku,
    Subscription,
    TypeOffer,
    Unanswered,
    Usage,
    Version,
)
from physical_ai.subscription.documents import (
    document_of,
    map_of,
    number_of,
    postgres_offer,
    rows_in,
    rows_of,
    size_offer,
    sku_of,
    text_of,
    texts_in,
)

ARM = "https://management.azure.com"
Get = Callable[[str, Mapping[str, str]], Any]
"""Function `get(path or full address, parameters)` that returns the answer's document. Raises `Unanswered`."""
Exchange = Callable[[str, str, Mapping[str, str], Any], tuple[int, Any, Mapping[str, str]]]
"""Function `exchange(method, path, parameters, body)` → status, document, headers. Raises `Unanswered`."""

_COMPUTE = "providers/Microsoft.Compute"
_VERSIONS = {
    "subscriptions": "2022-12-01",
    "usages": "2024-07-01",
    "skus": "2021-07-01",
    "providers": "2021-04-01",
    "features": "2021-07-01",
    "permissions": "2022-04-01",
    "locks": "2020-05-01",
    "Microsoft.Storage/skus": "2023-05-01",
    "Microsoft.Cache/skus": "2024-11-01",
    "kubernetesVersions": "2025-05-01",
    "Microsoft.ContainerService/managedClusters": "2025-05-01",
    "Microsoft.Network": "2024-05-01",
    "Microsoft.PolicyInsights": "2023-03-01",
    "Microsoft.ManagedIdentity/userAssignedIdentities": "2023-01-31",
    "Microsoft.Storage/storageAccounts": "2023-05-01",
    "Microsoft.ContainerRegistry/registries": "2023-07-01",
    "Microsoft.DBforPostgreSQL/flexibleServers": "2024-08-01",
}
"""API versions by resource type."""
_CLUSTERS = "Microsoft.ContainerService/managedClusters"
MOST_PAGES = 200


class AzureRest:
    """Answers about one subscription from Azure's REST API: an implementation of `answers.Azure`."""

    def __init__(self, get: Get, subscription: str, exchange: Exchange | None = None) -> None:
        """`exchange`: function for requests other than GET. Without it, questions that need such a request raise
        `Unanswered`.
        """
        self._get, self._id, self._exchange = get, subscription, exchange
        self._subscription: Subscription | None = None

    def subscription(self) -> Subscription:
        if self._subscription is None:
            found = document_of(self._path(), self._get(self._path(), {"api-version": _VERSIONS["subscriptions"]}))
            if not text_of(found, "state"):
                raise Unanswered(f"{self._path()}: the answer has no `state`, so it is not Azure's")
            self._subscription = Subscription(self._id, text_of(found, "displayName"), text_of(found, "state"))
        return self._subscription

    def usages(self, region: str) -> Mapping[str, Usage]:
        rows = self._list(f"{_COMPUTE}/locations/{region}/usages", "usages")
        found = ((text_of(map_of(row.get("name")), "value"), row) for row in rows)
        return {name: Usage(number_of(row.get("currentValue")), number_of(row.get("limit"))) for name, row in found}

    def sizes(self, region: str) -> Mapping[str, SizeOffer]:
        rows = self._list(f"{_COMPUTE}/skus", "skus", {"$filter": f"location eq '{region}'"})
        return {
            text_of(row, "name"): size_offer(row, region)
            for row in rows
            if row.get("resourceType") == "virtualMachines"
        }

    def providers(self) -> Mapping[str, str]:
        return {
            text_of(row, "namespace"): text_of(row, "registrationState") for row in self._list("providers", "providers")
        }

    def api_versions(self) -> Mapping[str, Sequence[str]]:
        return {
            f"{text_of(row, 'namespace')}/{text_of(kind, 'resourceType')}": texts_in(kind.get("apiVersions"))
            for row in self._list("providers", "providers")
            for kind in rows_in(row.get("resourceTypes"))
        }

    def type_offers(self) -> Mapping[str, TypeOffer]:
        """Azure's offers by resource type in lower case: API versions, regions and zones."""
        return {
            f"{text_of(row, 'namespace')}/{text_of(kind, 'resourceType')}".lower(): TypeOffer(
                texts_in(kind.get("apiVersions")),
                texts_in(kind.get("locations")),
                {text_of(each, "location"): texts_in(each.get("zones")) for each in rows_in(kind.get("zoneMappings"))},
            )
            for row in self._list("providers", "providers")
            for kind in rows_in(row.get("resourceTypes"))
        }

    def counts(self, namespace: str, region: str) -> Mapping[str, tuple[int, int]]:
        """Present use and limit of each quota (a usage in Azure's API) of a resource provider in a region, by the
        usage's name.
        """
        offer = self.type_offers().get(f"{namespace}/locations/usages".lower())
        version = max(offer.versions) if offer is not None and offer.versions else _VERSIONS.get(namespace)
        if version is None:
            raise Unanswered(f"{namespace}: Azure's list of providers has no usages of it")
        path = f"providers/{namespace}/locations/{region}/usages"
        rows = self._list(path, namespace, {"api-version": version})
        return {
            text_of(map_of(row.get("name")), "value"): (number_of(row.get("currentValue")), number_of(row.get("limit")))
            for row in rows
        }

    def restrictions(self, body: Mapping[str, Any]) -> Any:
        """Azure Policy's answer to a checkPolicyRestrictions request about a resource."""
        path = self._path("providers/Microsoft.PolicyInsights/checkPolicyRestrictions")
        status, document = self._ask("POST", path, "Microsoft.PolicyInsights", body)
        if status != 200:
            raise Unanswered(f"{path}: Azure answered {status}")
        return document

    def credentials(self, group: str) -> Mapping[str, Sequence[str]]:
        """Subjects of the federated credentials of each identity in a resource group, by the identity's name; empty if
        the group does not exist.

        Raises Unanswered.
        """
        kind = "Microsoft.ManagedIdentity/userAssignedIdentities"
        status, document = self._ask("GET", self._path(f"resourceGroups/{group}/providers/{kind}"), kind, None)
        if status == 404:
            return {}
        if status != 200:
            raise Unanswered(f"{group}: Azure answered {status}")
        found: dict[str, Sequence[str]] = {}
        for row in rows_in(map_of(document).get("value")):
            path = f"{text_of(row, 'id')}/federatedIdentityCredentials"
            rows = rows_of(path, document_of(path, self._get(path, {"api-version": _VERSIONS[kind]})))
            found[text_of(row, "name")] = [text_of(map_of(each.get("properties")), "subject") for each in rows]
        return found

    def feature(self, namespace: str, name: str) -> str:
        path = self._path(f"providers/Microsoft.Features/providers/{namespace}/features/{name}")
        document = document_of(path, self._get(path, {"api-version": _VERSIONS["features"]}))
        return text_of(map_of(document.get("properties")), "state") or "unknown"

    def permissions(self, scope: str = "") -> Sequence[Permission]:
        rows = self._list("providers/Microsoft.Authorization/permissions", "permissions", root=scope)
        return [
            Permission(texts_in(row.get("actions")), texts_in(row.get("notActions")), text_of(row, "condition"))
            for row in rows
        ]

    def locks(self) -> Mapping[str, str]:
        """Level of each lock in the subscription, by the lock's id. Raises Unanswered."""
        rows = self._list("providers/Microsoft.Authorization/locks", "locks")
        return {text_of(row, "id"): text_of(map_of(row.get("properties")), "level") for row in rows}

    def skus(self, namespace: str) -> Sequence[Sku]:
        """Sizes or redundancies that a service offers the subscription. Raises Unanswered."""
        return [sku_of(row) for row in self._list(f"providers/{namespace}/skus", f"{namespace}/skus")]

    def kubernetes(self, region: str) -> Sequence[Version]:
        path = f"providers/Microsoft.ContainerService/locations/{region}/kubernetesVersions"
        document = document_of(path, self._get(self._path(path), {"api-version": _VERSIONS["kubernetesVersions"]}))
        return [
            Version(
                text_of(row, "version"),
                tuple(map_of(row.get("patchVersions"))),
                row.get("isPreview") is True,
                texts_in(map_of(row.get("capabilities")).get("supportPlan")),
            )
            for row in rows_of(path, document, "values")
        ]

    def cluster_version(self, stack: str) -> str | None:
        """Kubernetes version of a stack's cluster; None if the stack has no cluster. Raises Unanswered."""
        try:
            found = document_of("the cluster", self._get(self._cluster(stack), {"api-version": _VERSIONS[_CLUSTERS]}))
        except NotThere:
            return None
        properties = map_of(found.get("properties"))
        return text_of(properties, "currentKubernetesVersion") or text_of(properties, "kubernetesVersion")

    def pools(self, stack: str) -> Mapping[str, int]:
        """Number of nodes of each pool in a stack's cluster, by pool name. Raises Unanswered."""
        path = f"{self._cluster(stack)}/agentPools"
        rows = rows_of(path, document_of(path, self._get(path, {"api-version": _VERSIONS[_CLUSTERS]})))
        return {text_of(row, "name"): number_of(map_of(row.get("properties")).get("count")) for row in rows}

    def _cluster(self, stack: str) -> str:
        names = Names(stack)
        group = f"resourceGroups/{names.resource_group}"
        return self._path(f"{group}/providers/{_CLUSTERS}/{names.cluster}")

    def postgres(self, region: str) -> PostgresOffer:
        path = f"providers/Microsoft.DBforPostgreSQL/locations/{region}/capabilities"
        rows = list(self._list(path, "Microsoft.DBforPostgreSQL/flexibleServers"))
        if not rows:
            raise Unanswered(f"{path}: Azure lists no capabilities")
        return postgres_offer(rows[0])

    def _path(self, below: str = "") -> str:
        return f"/subscriptions/{self._id}" + (f"/{below}" if below else "")

    def name_refused(self, kind: str, name: str) -> str | None:
        path = self._path(f"providers/{kind.partition('/')[0]}/checkNameAvailability")
        status, document = self._ask("POST", path, kind, {"name": name, "type": kind})
        answer = map_of(document)
        if status != 200 or not isinstance(answer.get("nameAvailable"), bool):
            raise Unanswered(f"{path}: Azure answered {status}")
        if answer["nameAvailable"]:
            return None
        return text_of(answer, "message") or text_of(answer, "reason") or "it is taken"

    def exists(self, group: str, kind: str, name: str) -> bool:
        path = self._path(f"resourceGroups/{group}/providers/{kind}/{name}")
        status, _ = self._ask("GET", path, kind, None)
        if status not in {200, 404}:
            raise Unanswered(f"{path}: Azure answered {status}")
        return status == 200

    def _ask(self, method: str, path: str, kind: str, body: Mapping[str, Any] | None) -> tuple[int, Any]:
        if self._exchange is None:
            raise Unanswered(f"{path}: there is no login for it")
        status, document, _ = self._exchange(method, path, {"api-version": _VERSIONS[kind]}, body)
        return status, document

    def _list(
        self, below: str, kind: str, parameters: Mapping[str, str] | None = None, root: str = ""
    ) -> Iterator[dict[str, Any]]:
        """Entries of all pages of the list at the path `below` under `root`; without `root`, under the subscription."""
        address, asked = (
            f"{root}/{below}" if root else self._path(below),
            {"api-version": _VERSIONS.get(kind, ""), **(parameters or {})},
        )
        for _ in range(MOST_PAGES):
            document = document_of(below, self._get(address, asked))
            yield from rows_of(below, document)
            following = document.get("nextLink")
            if not isinstance(following, str) or not following:
                return
            if not following.startswith(f"{ARM}/"):
                raise Unanswered(f"{below}: Azure refers to another host, {following.split('?')[0]}")
            address, asked = following, {}
        raise Unanswered(f"{below}: the list does not end")


def subscriptions(get: Get) -> list[Subscription]:
    """The subscriptions that the login can use. Raises Unanswered."""
    document = document_of("subscriptions", get("/subscriptions", {"api-version": _VERSIONS["subscriptions"]}))
    rows = rows_of("subscriptions", document)
    return [
        Subscription(text_of(row, "subscriptionId"), text_of(row, "displayName"), text_of(row, "state")) for row in rows
    ]
