"""Rules about cert-manager on clusters that the stack does not create."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.settings import Overlay, SettingsError, load
from tests.support.covering_stacks import ZONE


def tls(**given: Any) -> Overlay:
    access = {"host": "osmo.contoso.com", "tls": {"source": "certManager", "certManager": given}}
    return Overlay("--set", {"osmo": {"access": access}})


def test_an_issuer_for_azures_dns_needs_a_cluster_of_the_stack() -> None:
    with pytest.raises(SettingsError) as refused:
        load("onprem-lab", [tls(acme={"email": "osmo@contoso.com", "zoneId": ZONE})])
    text = str(refused.value)
    assert "osmo.access.tls.certManager.acme" in text
    assert "clusterIssuer" in text


def test_an_issuer_of_the_cluster_serves_anywhere() -> None:
    assert "cert_manager" in load("onprem-lab", [tls(clusterIssuer="internal")]).plan.parts
