"""Functions that read values from Azure's answers, in which any value may be missing or have an unexpected type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from physical_ai.subscription.answers import PostgresOffer, SizeOffer, Sku, Unanswered


def size_offer(row: Mapping[str, Any], region: str) -> SizeOffer:
    capabilities = {text_of(each, "name"): each.get("value") for each in rows_in(row.get("capabilities"))}
    places = [each for each in rows_in(row.get("locationInfo")) if text_of(each, "location").lower() == region]
    zones = {zone for place in places for zone in texts_in(place.get("zones"))}
    refused: str | None = None
    for each in rows_in(row.get("restrictions")):
        if each.get("type") == "Location":
            refused = text_of(each, "reasonCode") or "unsaid"
        elif each.get("type") == "Zone":
            zones -= set(texts_in(map_of(each.get("restrictionInfo")).get("zones")))
    return SizeOffer(
        text_of(row, "family"),
        whole_of(capabilities.get("vCPUs")),
        whole_of(capabilities.get("GPUs")),
        {"true": True, "false": False}.get(str(capabilities.get("LowPriorityCapable")).lower()),
        tuple(sorted(zones)),
        refused,
        {name: value for name, value in capabilities.items() if isinstance(value, str)},
    )


def sku_of(row: Mapping[str, Any]) -> Sku:
    """Size or redundancy that a service offers, from one entry of Azure's SKU list."""
    reasons = [text_of(each, "reasonCode") or "unsaid" for each in rows_in(row.get("restrictions"))]
    kind, name = text_of(row, "resourceType"), text_of(row, "name")
    return Sku(kind, name, text_of(row, "kind"), texts_in(row.get("locations")), ", ".join(reasons))


def postgres_offer(row: Mapping[str, Any]) -> PostgresOffer:
    """PostgreSQL features from one entry of the service's list of capabilities."""

    def said(key: str) -> bool | None:
        return {"enabled": True, "disabled": False}.get(text_of(row, key).lower())

    skus = [
        sku
        for edition in rows_in(row.get("supportedServerEditions"))
        for sku in rows_in(edition.get("supportedServerSkus"))
    ]
    reason = text_of(row, "reason") or "the service is restricted there"
    return PostgresOffer(
        reason if said("restricted") else None,
        said("zoneRedundantHaSupported"),
        said("geoBackupSupported"),
        said("zoneRedundantHaAndGeoBackupSupported"),
        {
            text_of(sku, "name"): texts_in(sku.get("supportedHaMode"))
            for sku in skus
            if text_of(sku, "status") != "Disabled"
        },
        tuple(text_of(each, "name") for each in rows_in(row.get("supportedServerVersions"))),
    )


def document_of(what: str, answer: Any) -> dict[str, Any]:
    """An answer of ARM as a map. Raises Unanswered for any other value, which a proxy may have sent instead of ARM."""
    if not isinstance(answer, dict):
        raise Unanswered(f"{what}: the answer is no object ({type(answer).__name__}), so it is not Azure's")
    return cast("dict[str, Any]", answer)


def rows_of(what: str, document: Mapping[str, Any], key: str = "value") -> list[dict[str, Any]]:
    """Entries of a list in ARM's answer.

    Raises Unanswered if the answer has no list at `key`: ARM sends the list even if it is empty.
    """
    if not isinstance(document.get(key), list):
        raise Unanswered(f"{what}: the answer has no list `{key}`, so it is not Azure's")
    return rows_in(document[key])


def map_of(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def rows_in(value: Any) -> list[dict[str, Any]]:
    return [map_of(each) for each in _list(value)]


def text_of(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    return value if isinstance(value, str) else ""


def texts_in(value: Any) -> tuple[str, ...]:
    return tuple(each for each in _list(value) if isinstance(each, str))


def number_of(value: Any) -> int:
    return int(value) if isinstance(value, (int, float)) else 0


def whole_of(value: Any) -> int | None:
    return int(value) if isinstance(value, str) and value.isdigit() else None
