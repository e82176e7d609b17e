"""Every route of the gateway: none answers without a login but versions, public keys, and the login itself."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from physical_ai.catalog.osmo_service import UNAUTHENTICATED
from physical_ai.settings import Overlay, load
from tests.support.gateway_routes import LOGIN_PATHS, asked, open_prefixes, routes
from tests.unit.settings.test_osmo_access import ACCESS, DATA

PATHS = (
    "/api/workflow",
    "/api/workflow/train-1/logs",
    "/api/workflow/train-1/exec/task/task",
    "/api/pool/default/workflow",
    "/api/pool",
    "/api/pool_quota",
    "/api/resources",
    "/api/task",
    "/api/bucket",
    "/api/credentials",
    "/api/credentials/registry",
    "/api/app",
    "/api/profile/settings",
    "/api/users",
    "/api/auth/user",
    "/api/auth/user/admin/access_token/t",
    "/api/auth/access_token",
    "/api/auth/roles",
    "/api/configs",
    "/api/configs/pool/default",
    "/api/configs/backend/default",
    "/api/configs/service",
    "/api/agent/listener/default/backend",
    "/api/agent/worker/default/backend",
    "/api/logger/workflow/w/osmo_ctrl/t/retry_id/0",
    "/api/router/exec/w/client/k",
    "/api/router/portforward/w/client/k",
    "/api/router/webserver",
    "/client/install.sh",
)
"""Paths of OSMO's API (NVIDIA/OSMO src/service, read near 6.3.1)."""
PAGES = ("/", "/workflows", "/admin", "/_next/static/x.js")


def values(**access: Any) -> dict[str, Any]:
    data = {"dataServices": DATA, "osmo": {"mode": "platform", "access": {**ACCESS, **access}}}
    release = load("dev-westus2", [Overlay("test", data)]).plan.control_plane
    assert release is not None
    return dict(release.values)


@pytest.fixture(params=["internal", "public"], scope="module")
def gateway(request: pytest.FixtureRequest) -> dict[str, Any]:
    return values(scope=request.param)


def test_no_request_of_the_api_is_answered_without_a_role(gateway: dict[str, Any]) -> None:
    assert {path: asked(gateway, path) for path in PATHS} == dict.fromkeys(PATHS, "role")


def test_pages_need_a_login(gateway: dict[str, Any]) -> None:
    assert {path: asked(gateway, path) for path in PAGES} == dict.fromkeys(PAGES, "login")


def test_without_a_login_there_are_versions_keys_and_the_login(gateway: dict[str, Any]) -> None:
    assert set(open_prefixes(gateway)) == {*UNAUTHENTICATED, *LOGIN_PATHS}
    assert all(path.startswith("/api/auth/") or path.endswith("/version") for path in UNAUTHENTICATED)


def test_no_route_switches_off_a_check_but_those_of_the_login_and_of_pages(gateway: dict[str, Any]) -> None:
    assert {each.cluster for each in routes(gateway) if each.without} == {"redirect", "oauth2-proxy", "osmo-ui"}


def test_no_path_of_the_api_begins_like_one_without_a_login() -> None:
    """The chart compares prefixes: `/api/auth/keys` opens `/api/auth/keys-of-users` too."""
    assert [path for path in PATHS if path.startswith(UNAUTHENTICATED)] == []


def test_the_development_login_asks_for_nothing_which_is_why_it_stays_inside() -> None:
    given = {"dataServices": DATA, "osmo": {"mode": "platform", "access": {"login": "dev"}}}
    release = load("dev-westus2", [Overlay("test", given)]).plan.control_plane
    assert release is not None
    assert {asked(release.values, path) for path in PATHS} == {"nothing"}


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda envoy: envoy["extraSkipAuthPaths"].append("/api/workflow"), "/api/workflow"),
        (
            lambda envoy: envoy.update(
                extraRoutes=[
                    {
                        "match": {"prefix": "/api/pool"},
                        "route": {"cluster": "osmo-service"},
                        "typed_per_filter_config": {"envoy.filters.http.jwt_authn": {"disabled": True}},
                    }
                ]
            ),
            "/api/pool",
        ),
        (lambda envoy: envoy["defaultIdentity"].update(user="admin"), "/api/configs"),
    ],
)
def test_a_hole_is_found(change: Any, path: str) -> None:
    open_ = copy.deepcopy(values())
    change(open_["gateway"]["envoy"])
    assert asked(open_, path) == "nothing"
