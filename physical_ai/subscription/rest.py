"""Client of Azure's REST API for the questions of the check. Most are answered by GET requests, some by a POST."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from physical_ai.subscription.answers import (
    Permission,
    PostgresOffer,
    SizeOffer,
    Subscription,
    TypeOffer,
    Unanswered,
    Usage,
    Version,
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
    "kubernetesVersions": "2025-05-01",
    "Microsoft.Network": "2024-05-01",
    "Microsoft.PolicyInsights": "2023-03-01",
    "Microsoft.ManagedIdentity/userAssignedIdentities": "2023-01-31",
    "Microsoft.Storage/storageAccounts": "2023-05-01",
    "Microsoft.ContainerRegistry/registries": "2023-07-01",
    "Microsoft.DBforPostgreSQL/flexibleServers": "2024-08-01",
}
"""API versions by resource type."""
MOST_PAGES = 200


class AzureRest:
    """Answers about one subscription from Azure's REST API: an implementation of `answers.Azure`."""

    def __init__(self, get: Get, subscription: str, exchange: Exchange | None = None) -> None:
        """`exchange` sends requests other than GET. Without it, questions that need one raise `Unanswered`."""
        self._get, self._id, self._exchange = get, subscription, exchange
        self._subscription: Subscription | None = None

    def subscription(self) -> Subscription:
        if self._subscription is None:
            found = _document(self._path(), self._get(self._path(), {"api-version": _VERSIONS["subscriptions"]}))
            self._subscription = Subscription(self._id, _text(found, "displayName"), _text(found, "state"))
        return self._subscription

    def usages(self, region: str) -> Mapping[str, Usage]:
        rows = self._list(f"{_COMPUTE}/locations/{region}/usages", "usages")
        found = ((_text(_map(row.get("name")), "value"), row) for row in rows)
        return {name: Usage(_number(row.get("currentValue")), _number(row.get("limit"))) for name, row in found}

    def sizes(self, region: str) -> Mapping[str, SizeOffer]:
        rows = self._list(f"{_COMPUTE}/skus", "skus", {"$filter": f"location eq '{region}'"})
        return {_text(row, "name"): _offer(row, region) for row in rows if row.get("resourceType") == "virtualMachines"}

    def providers(self) -> Mapping[str, str]:
        return {
            _text(row, "namespace"): _text(row, "registrationState") for row in self._list("providers", "providers")
        }

    def api_versions(self) -> Mapping[str, Sequence[str]]:
        return {
            f"{_text(row, 'namespace')}/{_text(kind, 'resourceType')}": _texts(kind.get("apiVersions"))
            for row in self._list("providers", "providers")
            for kind in _rows(row.get("resourceTypes"))
        }

    def type_offers(self) -> Mapping[str, TypeOffer]:
        """Azure's offers by resource type in lower case: API versions, regions and zones."""
        return {
            f"{_text(row, 'namespace')}/{_text(kind, 'resourceType')}".lower(): TypeOffer(
                _texts(kind.get("apiVersions")),
                _texts(kind.get("locations")),
                {_text(each, "location"): _texts(each.get("zones")) for each in _rows(kind.get("zoneMappings"))},
            )
            for row in self._list("providers", "providers")
            for kind in _rows(row.get("resourceTypes"))
        }

    def counts(self, namespace: str, region: str) -> Mapping[str, tuple[int, int]]:
        """Number in use and limit of each usage that a resource provider counts in a region, by name."""
        offer = self.type_offers().get(f"{namespace}/locations/usages".lower())
        version = max(offer.versions) if offer is not None and offer.versions else _VERSIONS.get(namespace)
        if version is None:
            raise Unanswered(f"{namespace}: Azure's list of providers has no usages of it")
        path = f"providers/{namespace}/locations/{region}/usages"
        rows = self._list(path, namespace, {"api-version": version})
        return {
            _text(_map(row.get("name")), "value"): (_number(row.get("currentValue")), _number(row.get("limit")))
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
        for row in _rows(_map(document).get("value")):
            path = f"{_text(row, 'id')}/federatedIdentityCredentials"
            rows = _rows_of(path, _document(path, self._get(path, {"api-version": _VERSIONS[kind]})))
            found[_text(row, "name")] = [_text(_map(each.get("properties")), "subject") for each in rows]
        return found

    def feature(self, namespace: str, name: str) -> str:
        path = self._path(f"providers/Microsoft.Features/providers/{namespace}/features/{name}")
        document = _document(path, self._get(path, {"api-version": _VERSIONS["features"]}))
        return _text(_map(document.get("properties")), "state") or "unknown"

    def permissions(self, scope: str = "") -> Sequence[Permission]:
        rows = self._list("providers/Microsoft.Authorization/permissions", "permissions", root=scope)
        return [Permission(_texts(row.get("actions")), _texts(row.get("notActions"))) for row in rows]

    def kubernetes(self, region: str) -> Sequence[Version]:
        path = f"providers/Microsoft.ContainerService/locations/{region}/kubernetesVersions"
        document = _document(path, self._get(self._path(path), {"api-version": _VERSIONS["kubernetesVersions"]}))
        return [
            Version(
                _text(row, "version"),
                tuple(_map(row.get("patchVersions"))),
                row.get("isPreview") is True,
                _texts(_map(row.get("capabilities")).get("supportPlan")),
            )
            for row in _rows(document.get("values"))
        ]

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
        answer = _map(document)
        if status != 200 or not isinstance(answer.get("nameAvailable"), bool):
            raise Unanswered(f"{path}: Azure answered {status}")
        if answer["nameAvailable"]:
            return None
        return _text(answer, "message") or _text(answer, "reason") or "it is taken"

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
        """Entries of all pages of a list. `below`: its path below `root`, by default below the subscription."""
        address, asked = (
            f"{root}/{below}" if root else self._path(below),
            {"api-version": _VERSIONS.get(kind, ""), **(parameters or {})},
        )
        for _ in range(MOST_PAGES):
            document = _document(below, self._get(address, asked))
            yield from _rows_of(below, document)
            following = document.get("nextLink")
            if not isinstance(following, str) or not following:
                return
            if not following.startswith(f"{ARM}/"):
                raise Unanswered(f"{below}: Azure refers to another host, {following.split('?')[0]}")
            address, asked = following, {}
        raise Unanswered(f"{below}: the list does not end")


def subscriptions(get: Get) -> list[Subscription]:
    """The subscriptions that the login can use. Raises Unanswered."""
    document = _document("subscriptions", get("/subscriptions", {"api-version": _VERSIONS["subscriptions"]}))
    rows = _rows_of("subscriptions", document)
    return [Subscription(_text(row, "subscriptionId"), _text(row, "displayName"), _text(row, "state")) for row in rows]


def _offer(row: Mapping[str, Any], region: str) -> SizeOffer:
    capabilities = {_text(each, "name"): each.get("value") for each in _rows(row.get("capabilities"))}
    places = [each for each in _rows(row.get("locationInfo")) if _text(each, "location").lower() == region]
    zones = {zone for place in places for zone in _texts(place.get("zones"))}
    refused: str | None = None
    for each in _rows(row.get("restrictions")):
        if each.get("type") == "Location":
            refused = _text(each, "reasonCode") or "unsaid"
        elif each.get("type") == "Zone":
            zones -= set(_texts(_map(each.get("restrictionInfo")).get("zones")))
    return SizeOffer(
        _text(row, "family"),
        _whole(capabilities.get("vCPUs")),
        _whole(capabilities.get("GPUs")),
        {"true": True, "false": False}.get(str(capabilities.get("LowPriorityCapable")).lower()),
        tuple(sorted(zones)),
        refused,
        {name: value for name, value in capabilities.items() if isinstance(value, str)},
    )


def postgres_offer(row: Mapping[str, Any]) -> PostgresOffer:
    """PostgreSQL features from one entry of the service's list of capabilities."""

    def said(key: str) -> bool | None:
        return {"enabled": True, "disabled": False}.get(_text(row, key).lower())

    skus = [
        sku
        for edition in _rows(row.get("supportedServerEditions"))
        for sku in _rows(edition.get("supportedServerSkus"))
    ]
    reason = _text(row, "reason") or "the service is restricted there"
    return PostgresOffer(
        reason if said("restricted") else None,
        said("zoneRedundantHaSupported"),
        said("geoBackupSupported"),
        said("zoneRedundantHaAndGeoBackupSupported"),
        {_text(sku, "name"): _texts(sku.get("supportedHaMode")) for sku in skus if _text(sku, "status") != "Disabled"},
        tuple(_text(each, "name") for each in _rows(row.get("supportedServerVersions"))),
    )


def _document(what: str, answer: Any) -> dict[str, Any]:
    """An answer of ARM as a map. Raises Unanswered for any other value, which a proxy may have sent instead of ARM."""
    if not isinstance(answer, dict):
        raise Unanswered(f"{what}: the answer is no object ({type(answer).__name__}), so it is not Azure's")
    return cast("dict[str, Any]", answer)


def _rows_of(what: str, document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The entries of a list.

    Raises Unanswered if the answer has no list `value`: ARM sends one even if it is empty.
    """
    if not isinstance(document.get("value"), list):
        raise Unanswered(f"{what}: the answer has no list `value`, so it is not Azure's")
    return _rows(document["value"])


def _map(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _rows(value: Any) -> list[dict[str, Any]]:
    return [_map(each) for each in _list(value)]


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(each for each in _list(value) if isinstance(each, str))


def _number(value: Any) -> int:
    return int(value) if isinstance(value, (int, float)) else 0


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, str) and value.isdigit() else None
