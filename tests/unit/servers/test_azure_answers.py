"""Azure, or what stands in its place, misbehaves: the client of ARM ends within its bounds, with one sentence."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from azure.core.pipeline.policies import SansIOHTTPPolicy
from azure.core.pipeline.transport import RequestsTransport

from physical_ai.servers.adapter import bounded_session
from physical_ai.servers.bounds import Bounds
from physical_ai.subscription.answers import Unanswered
from physical_ai.subscription.rest import AzureRest, subscriptions
from tests.support import misbehaving_server as server
from tests.support.cases import in_one_test
from workbench.preflight import login

BOUNDS = Bounds(seconds=0.2, connect=0.2, idle=0.15, size=1 << 18)
GOOD = "packs what it sends"
"""azure-core unpacks an answer, and an empty document has no rows."""


@in_one_test("name", [each for each in server.WRONG if each != GOOD])
def test_whatever_stands_in_azures_place_is_one_sentence_in_time(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RequestsTransport, "sleep", lambda *_: None)
    # The genuine policy refuses a server without TLS.
    monkeypatch.setattr(login, "BearerTokenCredentialPolicy", lambda *_: SansIOHTTPPolicy())
    session = bounded_session(BOUNDS)
    transport = RequestsTransport(session=session, session_owner=False, connection_timeout=0.2, read_timeout=0.15)
    began = time.monotonic()
    with server.served(lambda _: server.WRONG[name]) as url:
        monkeypatch.setattr(login, "ARM", url)
        get = login.connect(None, transport)  # pyright: ignore[reportArgumentType]
        with pytest.raises(Unanswered) as caught:
            AzureRest(get, "a").usages("westus2")
    text = str(caught.value)
    assert "Microsoft.Compute/locations/westus2/usages" in text
    assert text.isprintable()
    assert len(text) < 600
    assert "secret" not in text
    assert time.monotonic() - began < 100 * login.ATTEMPTS * BOUNDS.seconds


@pytest.mark.parametrize("answer", [[], "Sign in", None, 1, {}, {"value": {}}, {"items": []}])
def test_what_is_no_list_of_azures_is_not_an_empty_one(answer: object) -> None:
    """Nothing left of a quota, and no answer about it, are two things."""
    for ask in (lambda azure: azure.usages("westus2"), lambda azure: azure.sizes("westus2"), AzureRest.providers):
        with pytest.raises(Unanswered, match="not Azure's"):
            ask(AzureRest(lambda *_: answer, "a"))
    with pytest.raises(Unanswered, match="not Azure's"):
        subscriptions(lambda *_: answer)


def test_a_larger_answer_than_the_bound_is_not_kept() -> None:
    session = bounded_session(replace(BOUNDS, seconds=60, idle=60))
    with server.served(lambda _: server.answer(b" " * (1 << 19))) as url, pytest.raises(Exception, match="larger than"):
        session.get(url, timeout=60)
