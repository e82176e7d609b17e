"""Replacement of IPv6 and MAC addresses, of ids and hosts in any text, and names that would meet."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.support.cases import in_one_test
from workbench.recordings.interfaces import Interfaces
from workbench.recordings.making import head, made

GUID = "a1b2c3d4-1111-2222-3333-444455556666"


def replaced(text: str) -> str:
    return Interfaces([text]).text(text)


def recorded(path: str, *items: Any) -> Any:
    """Objects of a list after a recording."""
    entry = {"kind": "list", "path": path, "items": list(items)}
    return made([head("s", "2026-01-01T00:00:00Z", "p", simulated=False), entry])[2]["items"]


def test_two_addresses_stay_two() -> None:
    assert replaced("2603::5 2603::6 2603::5") == "2001:db8::1 2001:db8::2 2001:db8::1"
    assert replaced("[2603:1030:0008:0001:0:0:0:5]:80") == "[2001:db8::1]:80"
    assert replaced("2603:1030:8::/48") == "2001:db8:1::/48"


@pytest.mark.parametrize(
    "text", ["at 12:34:56 std::abort()", "face:1234:ab x::y", "listen on [::]:80 and ::1", "2001:db8::7"]
)
def test_what_is_no_address_of_somebody_is_kept(text: str) -> None:
    assert replaced(text) == text


def test_a_network_card_is_one_everywhere() -> None:
    assert replaced("00:0d:3a:12:34:56, 00-0D-3A-12-34-56") == "02:00:00:00:00:01, 02-00-00-00-00-01"
    assert replaced(replaced("00:0d:3a:12:34:56")) == replaced("00:0d:3a:12:34:56")


def test_names_and_keys_that_would_meet_are_numbered() -> None:
    found = recorded("/apis/x/v1/things", {"metadata": {"name": "a"}, "spec": {"2603::5": "a", "2001:db8::1": "b"}})
    assert len(found[0]["spec"]) == 2
    twice = recorded("/apis/x/v1/things", {"metadata": {"name": "a"}}, {"metadata": {"name": "a"}})
    assert sorted(each["metadata"]["name"] for each in twice) == ["a", "a-2"]


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        (f"pvc-{GUID}", GUID),
        (f"{GUID}-rg", GUID),
        ("contoso-pg.postgres.database.azure.com", "contoso"),
        ("image contosoacr.azurecr.io/a:1", "contoso"),
        ("fabrikam.onmicrosoft.com", "fabrikam"),
        ("alice_contoso.com#EXT#@fabrikam.onmicrosoft.com", "alice"),
    ],
)
def test_ids_and_hosts_are_replaced_in_any_text(text: str, gone: str) -> None:
    assert gone not in json.dumps(recorded("/api/v1/events", {"metadata": {"name": "a"}, "message": text}))


def test_a_host_is_replaced_in_any_case() -> None:
    given = {"metadata": {"name": "a"}, "spec": {"host": "Portal.Contoso.com", "x": "portal.contoso.com"}}
    assert "contoso" not in json.dumps(recorded("/apis/x/v1/things", given)).lower()


@in_one_test("unit", ["a", "-", "a.", "a@", "1", "a:", "://", "://a", "1.", "00:"])
def test_the_time_grows_with_the_length_and_no_faster(unit: str) -> None:
    def cost(size: int) -> float:
        item = {"metadata": {"name": "a"}, "message": (unit * size)[:size]}
        start = time.process_time()
        recorded("/api/v1/events", item)
        return time.process_time() - start

    # Eight times as long: a quadratic expression takes 64 times as much. A machine may be slow for a moment.
    assert any(cost(1 << 16) < 24 * max(cost(1 << 13), 1e-3) for _ in range(4))


@pytest.mark.parametrize(
    "text",
    ["kubernetes.azure.com/cluster", "disk.csi.azure.com", "privatelink.blob.core.windows.net", "mcr.microsoft.com/x"],
)
def test_domains_that_every_cluster_names_are_kept(text: str) -> None:
    [found] = recorded("/api/v1/events", {"metadata": {"name": "a", "labels": {text: "x"}}, "message": text})
    assert (found["message"], list(found["metadata"]["labels"])) == (text, [text])
