"""Questions of a deployment to Azure before its first resource, over HTTP, with the simulated Azure behind them."""

from __future__ import annotations

import io
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any
from unittest import mock

import pulumi
import pytest

from components.config import SIMULATED_VARIABLE
from components.platform import first_questions
from components.platform.first_questions import ARM_VARIABLE, ask_azure
from physical_ai.settings import Loaded, existing, load
from physical_ai.settings.facts.created import region_of
from physical_ai.settings.facts.naming import Names
from physical_ai.settings.facts.pools import node_pools
from physical_ai.subscription.client import connected
from physical_ai.subscription.first import Answered, ask
from physical_ai.subscription.rest import AzureRest
from simulator.azure.web import Fault
from tests.support.arm_web import SUBSCRIPTION, World, world
from workbench.cli.requested_stack import read_stack

STACK = "dev-southeastasia"


def loaded(*assignments: str) -> Loaded:
    with redirect_stderr(io.StringIO()):
        return read_stack(STACK, None, list(assignments)).loaded


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Texts that the program logs."""
    texts: list[str] = []
    monkeypatch.setattr(pulumi.log, "info", lambda text, *_: texts.append(f"info {text}"))
    monkeypatch.setattr(pulumi.log, "warn", lambda text, *_: texts.append(f"warn {text}"))
    return texts


def asked(
    azure: World, monkeypatch: pytest.MonkeyPatch, *assignments: str, preview: bool = False, who: str = "owner"
) -> None:
    monkeypatch.setenv(SIMULATED_VARIABLE, "1")
    monkeypatch.setenv(ARM_VARIABLE, azure.address)
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: preview)
    token = mock.Mock(token=who)
    monkeypatch.setattr(first_questions.authorization, "get_client_token", lambda: token)
    ask_azure(loaded(*assignments), SUBSCRIPTION)


def test_a_deployment_that_azure_takes_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: list[str]
) -> None:
    with world(tmp_path) as azure:
        asked(azure, monkeypatch)
        paths = [path.rpartition("/")[2] for _, path, _ in azure.web.asked]
    assert said == []
    assert sorted(paths[1:]) == ["kubernetesVersions", "providers", "skus", "skus", "usages"]
    assert paths[0] == Names(STACK).cluster


NO: list[tuple[dict[str, Any], str, str]] = [
    ({"quota": {"cores": 4}}, "systemPool.scale", "preflight.quota: false"),
    ({"unentitled": ("standardDDSv5Family",)}, "systemPool.scale", "az quota create"),
    ({"restricted": {"Standard_NC40ads_H100_v5": ()}}, "pools.h100gpu.sku", "NotAvailableForSubscription"),
    ({"registered": ("Microsoft.Compute",)}, "dataServices", "az provider register --namespace Microsoft.Cache"),
]


@pytest.mark.parametrize(("options", "path", "words"), NO)
def test_a_no_ends_it_before_the_first_resource_with_file_key_and_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], path: str, words: str
) -> None:
    with world(tmp_path, **options) as azure, pytest.raises(pulumi.RunError) as refused:
        asked(azure, monkeypatch)
    text = str(refused.value)
    assert "of which nothing was created" in text
    assert words in text
    assert f": physical-ai:{path}" in text or f": {path}" in text
    assert "stacks/" in text


def test_a_version_that_the_region_does_not_offer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with world(tmp_path) as azure, pytest.raises(pulumi.RunError, match=r"Offered: 1\.36\.2, 1\.36\.3"):
        asked(azure, monkeypatch, "cluster.kubernetesVersion=1.36.0", "cluster.upgrades.channel=none")


@pytest.mark.parametrize(
    ("options", "words"),
    [pytest.param(options, words, marks=pytest.mark.deep if row else ()) for row, (options, _, words) in enumerate(NO)],
)
def test_a_preview_only_warns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: list[str], options: dict[str, Any], words: str
) -> None:
    with world(tmp_path, **options) as azure:
        asked(azure, monkeypatch, preview=True)
    assert any(words in each for each in said)
    assert all(each.startswith("warn A deployment would stop before its first resource") for each in said)


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"quota": {"cores": 4}}, "quota"),
        ({"restricted": {"Standard_NC40ads_H100_v5": ()}}, "sizes"),
        ({"registered": ("Microsoft.Compute",)}, "providers"),
    ],
)
def test_each_question_can_be_switched_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], key: str
) -> None:
    with world(tmp_path, **options) as azure:
        asked(azure, monkeypatch, f"preflight.{key}=false")


def test_with_all_switched_off_nothing_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    off = [f"preflight.{key}=false" for key in ("quota", "sizes", "kubernetes", "providers")]
    with world(tmp_path, quota={"*": 0}) as azure:
        asked(azure, monkeypatch, *off)
        assert azure.web.asked == []


REFUSED = b'{"error": {"code": "AuthorizationFailed", "message": "No."}}'


@pytest.mark.parametrize(
    ("faults", "words"),
    [
        ([Fault(403, REFUSED, only="skus")] * 2, "the login may not read it (403)"),
        ([Fault(500, b"{}", only="usages")], "Azure answered 500"),
        ([Fault(200, b"<html>", only="kubernetesVersions")], "a page"),
        ([Fault(200, b'{"value": [{"na', cut=True, only="providers")], "before the end of its answer"),
        ([Fault(200, b'{"values": 7}', only="providers")], "no list `value`"),
        ([Fault(429, b"{}", {"Retry-After": "3600"}, only="usages")], "too busy"),
        ([Fault(302, b"", {"Location": "https://example.com/"}, only="usages")], "not followed"),
    ],
)
def test_a_question_without_an_answer_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: list[str], faults: list[Fault], words: str
) -> None:
    with world(tmp_path, faults=faults) as azure:
        asked(azure, monkeypatch)
    assert any(words in each and "which goes on" in each for each in said), said


@pytest.mark.parametrize("who", ["expired", "other", "nobody"])
def test_a_login_that_azure_does_not_accept_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: list[str], who: str
) -> None:
    with world(tmp_path, quota={"*": 0}) as azure:
        asked(azure, monkeypatch, who=who)
    (text,) = said
    assert "the login may not read it (401)" in text


def test_without_a_login_nothing_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: list[str]) -> None:
    def none() -> Any:
        raise Exception("invoke of azure-native:authorization:getClientToken failed: no credential\nmore")

    with world(tmp_path, quota={"*": 0}) as azure:
        monkeypatch.setenv(SIMULATED_VARIABLE, "1")
        monkeypatch.setenv(ARM_VARIABLE, azure.address)
        monkeypatch.setattr(first_questions.authorization, "get_client_token", none)
        ask_azure(loaded(), SUBSCRIPTION)
        assert azure.web.asked == []
    (text,) = said
    assert text.startswith("info ")
    assert "no credential" in text
    assert "more" not in text


def test_a_real_token_goes_to_azure_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    places: list[str] = []

    def kept(token: str, address: str) -> Any:
        places.append(address)
        return lambda path, parameters: {}

    monkeypatch.setenv(SIMULATED_VARIABLE, "")
    monkeypatch.setenv(ARM_VARIABLE, "http://127.0.0.1:9")
    monkeypatch.setattr(first_questions.authorization, "get_client_token", lambda: mock.Mock(token="t"))
    monkeypatch.setattr(first_questions, "connected", kept)
    monkeypatch.setattr(first_questions, "ask", lambda settings, azure: Answered((), ()))
    ask_azure(loaded(), SUBSCRIPTION)
    assert places == ["https://management.azure.com"]


def test_another_cloud_is_not_asked(monkeypatch: pytest.MonkeyPatch, said: list[str]) -> None:
    monkeypatch.setenv(SIMULATED_VARIABLE, "")
    monkeypatch.setenv("ARM_ENVIRONMENT", "usgovernment")
    monkeypatch.setattr(first_questions.authorization, "get_client_token", lambda: mock.Mock(token="t"))
    ask_azure(loaded(), SUBSCRIPTION)
    assert len(said) == 1


def test_what_exists_is_not_asked_for_again() -> None:
    """A cluster of the same minor, whose pools exist, deploys whatever Azure offers new ones now."""
    settings = loaded().settings
    pools = [
        {"name": name, "properties": {"count": pool.scale.initial_count}} for name, pool in node_pools(settings).items()
    ]
    answers: dict[str, Any] = {
        Names(STACK).cluster: {"properties": {"currentKubernetesVersion": "1.36.1"}},
        "agentPools": {"value": pools},
        "usages": {"value": [{"name": {"value": "cores"}, "currentValue": 9, "limit": 9}]},
        "skus": {"value": []},
        "kubernetesVersions": {"values": []},
        "providers": {"value": []},
    }
    azure = AzureRest(lambda path, parameters: answers[path.rpartition("/")[2]], SUBSCRIPTION)
    found = ask(settings, azure)
    assert {each.rule for _, each in found.problems} == {"provider"}
    assert found.unanswered == ()
    pools[-1]["name"] = "other"
    assert {each.rule for _, each in ask(settings, azure).problems} == {"provider"}
    assert len(ask(settings, azure).unanswered) == 1


def test_every_stack_that_is_shipped_is_taken(tmp_path: Path) -> None:
    asked_of: list[str] = []
    with world(tmp_path) as azure, redirect_stderr(io.StringIO()):
        client = AzureRest(connected("owner", azure.address), SUBSCRIPTION)
        for name in existing():
            settings = load(name).settings
            if settings.record or region_of(settings) is None:
                continue
            found = ask(settings, client)
            assert ([str(each) for _, each in found.problems], found.unanswered) == ([], ()), name
            asked_of.append(name)
    assert {"prod-westeurope", "prod-swedencentral", STACK} <= set(asked_of)
