"""Servers that misbehave: the client behind all commands and gates ends in time, with one sentence."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import urllib3
from hypothesis import given
from hypothesis import strategies as some

from physical_ai.readiness import Unreachable
from physical_ai.readiness.answers import is_forbidden
from physical_ai.readiness.client import connect, connect_to_change
from physical_ai.readiness.paging import first_pages, whole_list
from physical_ai.readiness.reader import Missing
from physical_ai.servers import exchange as exchanges
from physical_ai.servers.bounds import Bounds
from physical_ai.servers.deadline import bounded, within
from physical_ai.servers.documents import NotADocument, decoded
from physical_ai.servers.exchange import NoAnswer, Request, TooLarge, exchange
from physical_ai.servers.retrying import pause
from tests.support import misbehaving_server as server
from tests.support.cases import in_one_test
from tests.unit.readiness.test_gates_client import kubeconfig
from workbench.cli.prometheus import PrometheusFailed, ask

NODES = "/api/v1/nodes"
BOUNDS = Bounds(seconds=0.5, connect=0.5, idle=0.3, size=1 << 18, patience=0.05, tries=3)
SLOW = ("drips its body", "drips its body to the end of the connection", "drips chunks", "drips its headers",
        "drips its status", "goes on before it begins", "is silent")  # fmt: skip


@in_one_test("name", server.WRONG)
def test_whatever_a_server_does_is_one_sentence_about_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchanges, "sleep", lambda _: None)
    with server.served(lambda _: server.WRONG[name]) as url, pytest.raises(Unreachable) as caught:
        connect(kubeconfig(url, {}), BOUNDS)(NODES, {})
    text = str(caught.value)
    assert url in text or NODES in text or text.startswith("50"), text
    assert text.isprintable()
    assert len(text) < 600
    assert "secret" not in text
    if name in SLOW:
        assert "within 0.5 s" in text or "does not answer" in text, text


def test_a_slow_answer_within_the_bounds_is_an_answer() -> None:
    def slowly(line: Any) -> None:
        body = json.dumps({"items": [server.ITEM]}).encode()
        line.sendall(server.HEAD + f"Content-Length: {len(body)}\r\n\r\n".encode())
        for each in range(0, len(body), 8):
            line.sendall(body[each : each + 8])

    with server.served(lambda _: slowly) as url:
        assert connect(kubeconfig(url, {}))(NODES, {})["items"] == [server.ITEM]


@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
def test_a_busy_server_is_asked_again_after_the_time_that_it_names(
    status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(exchanges, "sleep", slept.append)
    answers = iter([server.document({}, status, Retry_After="7"), server.document({"items": []})])
    with server.served(lambda _: next(answers)) as url:
        assert connect(kubeconfig(url, {}))(NODES, {}) == {"items": []}
    assert slept == [7]


def test_a_kept_connection_that_the_server_closed_is_replaced_by_a_new_one() -> None:
    def hang_up(line: Any) -> None:
        line.close()

    answers = iter([hang_up, server.document({"items": [server.ITEM]})])
    with server.served(lambda _: next(answers)) as url:
        assert connect(kubeconfig(url, {}))(NODES, {})["items"] == [server.ITEM]


def test_what_changes_something_is_not_sent_again_over_a_new_connection() -> None:
    asked: list[str] = []

    def answer(path: str) -> Any:
        asked.append(path)
        return lambda line: line.close()

    with server.served(answer) as url, pytest.raises(Unreachable):
        connect_to_change(kubeconfig(url, {}))("DELETE", "/api/v1/namespaces/a/pods/b", {})
    assert len(asked) == 1


def test_a_disruption_budgets_refusal_is_left_to_who_evicts() -> None:
    refusal = server.document({"message": "Cannot evict"}, "429 Too Many Requests", Retry_After="10")
    with server.served(lambda _: refusal) as url, pytest.raises(Unreachable, match=r"^429 Cannot evict") as caught:
        connect_to_change(kubeconfig(url, {}), BOUNDS)("POST", "/api/v1/namespaces/a/pods/b/eviction", {}, {})
    assert caught.value.status == 429


@in_one_test(
    ("status", "headers", "expected"),
    [
        (429, {"retry-after": "3"}, 3.0),
        (429, {}, 4.0),
        (429, {"retry-after": "soon"}, 4.0),
        (429, {"retry-after": "-5"}, 4.0),
        (429, {"retry-after": "9" * 5000}, 999999999999.0),
        (503, {"retry-after": "0"}, 0.0),
        (503, {}, None),
        (500, {"retry-after": "1"}, None),
        # By the server's clock: this machine's may be behind.
        (429, {"retry-after": "Sun, 22 Nov 2026 12:00:09 GMT", "date": "Sun, 22 Nov 2026 12:00:00 GMT"}, 9.0),
        (429, {"retry-after": "Sun, 22 Nov 2026 11:00:00 GMT", "date": "Sun, 22 Nov 2026 12:00:00 GMT"}, 0.0),
    ],
)
def test_retry_after(status: int, headers: Mapping[str, str], expected: float | None) -> None:
    assert pause(status, headers, 3) == expected


def page_of(texts: Mapping[str, object]) -> Callable[[str], server.Behavior]:
    """The document for each query that a request contains."""
    return lambda request: server.document(next(value for key, value in texts.items() if key in request))


def test_lists_are_read_page_by_page() -> None:
    one, two = {"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}
    pages = page_of({"continue=x": {"items": [two]}, "limit=500": {"items": [one], "metadata": {"continue": "x"}}})
    with server.served(pages) as url:
        assert connect(kubeconfig(url, {}))(NODES, {})["items"] == [one, two]


def test_a_page_that_is_too_large_is_asked_for_in_smaller_ones() -> None:
    large = {"items": [{"metadata": {"name": "a" * (1 << 18)}}]}
    pages = page_of({"limit=500": large, "limit=50": {"items": []}})
    with server.served(pages) as url:
        assert connect(kubeconfig(url, {}), BOUNDS)(NODES, {})["items"] == []


def test_a_list_that_was_too_slow_for_its_next_page_begins_again() -> None:
    answers = iter(
        [
            server.document({"items": [server.ITEM], "metadata": {"continue": "x"}}),
            server.document({"message": "too old"}, "410 Gone"),
            server.document({"items": [server.ITEM]}),
        ]
    )
    with server.served(lambda _: next(answers)) as url:
        assert connect(kubeconfig(url, {}), BOUNDS)(NODES, {})["items"] == [server.ITEM]


def test_of_a_long_list_the_first_objects_can_be_read() -> None:
    with server.served(lambda _: server.WRONG["goes on with the same page"]) as url:
        found, is_all = first_pages(connect(kubeconfig(url, {}), BOUNDS), NODES, {}, 3)
    assert (len(found), is_all) == (3, False)


def empty_pages() -> Callable[[], dict[str, Any]]:
    """Answers without objects, each of which names another page after it."""
    number = itertools.count(1)
    return lambda: {"items": [], "metadata": {"continue": str(next(number))}}


def test_a_list_of_empty_pages_without_end_is_left() -> None:
    page = empty_pages()
    with pytest.raises(Unreachable, match="does not end"):
        whole_list(lambda _: page(), NODES)


def test_the_first_objects_after_an_empty_page_are_read_and_empty_pages_without_end_are_not_all() -> None:
    answers = iter([{"items": [], "metadata": {"continue": "x"}}, {"items": [server.ITEM]}])
    assert first_pages(lambda *_: next(answers), NODES, {}, 3) == ([server.ITEM], True)
    page = empty_pages()
    assert first_pages(lambda *_: page(), NODES, {}, 3) == ([], False)


def test_a_missing_kind_is_missing_whatever_the_page_says() -> None:
    with server.served(lambda _: server.answer(server.PAGE, "404 Not Found")) as url, pytest.raises(Missing):
        connect(kubeconfig(url, {}), BOUNDS)("/apis/nvidia.com/v1/clusterpolicies", {})


def test_a_log_that_may_not_be_read_is_refused_and_one_that_does_not_exist_is_missing() -> None:
    path = "/api/v1/namespaces/x/pods/y/log"
    refused = server.document({"message": 'pods "y" is forbidden'}, "403 Forbidden")
    with server.served(lambda _: refused) as url, pytest.raises(Unreachable) as caught:
        connect(kubeconfig(url, {}), BOUNDS)(path, {})
    assert is_forbidden(caught.value)
    waits = server.document({"message": "container is waiting to start"}, "400 Bad Request")
    with server.served(lambda _: waits) as url, pytest.raises(Missing):
        connect(kubeconfig(url, {}), BOUNDS)(path, {})


def test_a_login_without_end_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("physical_ai.readiness.client.LOGIN_SECONDS", 0.2)
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "sleep", "args": ["2"]}}
    with pytest.raises(Unreachable, match="has not ended within"):
        connect(kubeconfig("http://127.0.0.1:1", user))(NODES, {})


def test_what_has_no_bound_of_its_own_gets_one() -> None:
    assert within(5, lambda: 7) == 7
    with pytest.raises(KeyError):
        within(5, lambda: dict[str, int]()["a"])


@in_one_test("name", server.WRONG)
def test_a_prometheus_that_is_none(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.cli.prometheus.BOUNDS", BOUNDS)
    monkeypatch.setattr(exchanges, "sleep", lambda _: None)
    with server.served(lambda _: server.WRONG[name]) as url, pytest.raises(PrometheusFailed) as caught:
        ask(url, {"a": "up"})
    assert url in str(caught.value)
    assert "secret" not in str(caught.value)


@in_one_test(
    "data",
    [{}, {"result": None}, {"result": {"a": 1}}, {"result": [1]}, {"result": [{"metric": [], "value": [0, "1"]}]},
     {"result": [{"metric": {"a": 1}, "value": [0, "1"]}]}, {"result": [{"metric": {}, "value": []}]},
     {"result": [{"metric": {}, "value": [0, "much"]}]}, {"result": [{"metric": {}}]}],
)  # fmt: skip
def test_results_of_another_form_are_refused(data: object) -> None:
    answer = server.document({"status": "success", "data": data})
    with server.served(lambda _: answer) as url, pytest.raises(PrometheusFailed, match="no Prometheus can be read"):
        ask(url, {"a": "up"})


def test_a_connection_is_used_again() -> None:
    """The bound of one answer says nothing about the next one."""
    body = server.document({"items": []})

    def twice(line: Any) -> None:
        body(line)
        line.recv(1 << 16)
        body(line)

    with server.served(lambda _: twice) as url:
        pools = bounded(urllib3.PoolManager())
        assert [exchange(pools, Request("GET", url), BOUNDS).status for _ in range(2)] == [200, 200]


def test_an_answer_that_is_too_large_is_told_apart() -> None:
    with server.served(lambda _: server.answer(b" " * (1 << 19))) as url, pytest.raises(TooLarge):
        exchange(bounded(urllib3.PoolManager()), Request("GET", url), BOUNDS)
    with pytest.raises(NoAnswer, match="is not reached"):
        exchange(bounded(urllib3.PoolManager()), Request("GET", "http://127.0.0.1:1"), BOUNDS)


anything = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(),
    lambda inner: some.lists(inner) | some.dictionaries(some.text(), inner),
)


def refusal_of(body: bytes) -> str:
    """Why a body is no document; empty where it is one that can be printed."""
    try:
        json.dumps(decoded(body), ensure_ascii=False).encode()
    except NotADocument as problem:
        return str(problem)
    return ""


@pytest.mark.parametrize(("depth", "words"), [(100, ""), (101, "more than 100 lists or objects")])
def test_a_document_may_be_as_deep_as_the_bound(depth: int, words: str) -> None:
    assert words in refusal_of(b"[" * depth + b"]" * depth)
    assert bool(refusal_of(b'{"a":' * depth + b"1" + b"}" * depth)) == bool(words)


@given(anything)
def test_json_of_any_form_is_read_or_refused(value: object) -> None:
    assert f"x{refusal_of(json.dumps(value).encode())}".isprintable()


@given(some.binary())
def test_bytes_of_any_form_are_read_or_refused(body: bytes) -> None:
    assert f"x{refusal_of(body)}".isprintable()
