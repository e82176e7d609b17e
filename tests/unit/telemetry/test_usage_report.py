"""The report about use, waits and losses, against a week that was counted by hand."""

from __future__ import annotations

import datetime
import email
import email.policy
import json
import re
from email.message import EmailMessage
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from physical_ai.settings import Overlay, load
from physical_ai.telemetry.usage import Sample, queries
from physical_ai.telemetry.usage_report import percentile, report_queries, usage_report
from simulator.metrics.telemetry import Telemetry
from tests.unit.cli.test_cli_commands import call
from workbench.cli import prometheus
from workbench.cli.output.usage_report import NoReport, html, mail, text, write_report
from workbench.cli.usage_report import guarantees

A, B = "osmo-pool-osmo-workflows-a10", "osmo-pool-osmo-workflows-h100"


def pod(name: str, value: float = 1.0, team: str = "osmo-workflows", **labels: str) -> Sample:
    return Sample({"namespace": team, "pod": name, **labels}, value)


def queued(name: str, queue: str) -> Sample:
    return pod(name, label_kai_scheduler_queue=queue)


def held(name: str, hours: float, team: str = "osmo-workflows", pool: str = "h100gpu") -> Sample:
    return pod(name, hours, team, pool=pool)


def placed(name: str, node: str, team: str = "osmo-workflows") -> Sample:
    return pod(name, 1, team, node=node, pool="h100gpu")


RESULTS = {
    "queues": [queued("fine", B), queued("cut", B), queued("bad", A), queued("waits", A)],
    "asked": [pod("fine", 12), pod("cut", 8), pod("bad", 4), pod("waits", 20), pod("shell", 3, "team-x")],
    "held": [held("fine", 10), held("cut", 8), held("bad", 4, pool="a10gpu"), held("shell", 3, "team-x")],
    "busy": [held("fine", 9), held("cut", 7)],
    "idle": [held("shell", 3, "team-x")],
    "gpus": [pod("fine", 2), pod("cut", 2), pod("bad", 1), pod("waits", 4), pod("shell", 1, "team-x")],
    "placed": [placed("fine", "n1"), placed("cut", "n2"), placed("bad", "n3"), placed("shell", "n1", "team-x")],
    "nodes": [Sample({"node": "n1"}, 1), Sample({"node": "n3"}, 1)],
    "succeeded": [pod("fine")],
    "failed": [pod("bad")],
    "evicted": [],
    "running": [],
    "capacity": [Sample({"pool": "h100gpu"}, 90.0), Sample({"pool": "a10gpu"}, 10.0)],
    "unschedulable": [Sample({"pool": "h100gpu"}, 5.0)],
    "withheld": [Sample({"node": "n3"}, 2.0)],
    "pools": [Sample({"node": "n3", "pool": "a10gpu"}, 1)],
}
PRICES = {"h100gpu": 7.0, "a10gpu": 2.0}
REPORT = usage_report(RESULTS, PRICES, {A: 1, B: 3, "other": -1}, "7d")


def test_use_by_team_and_queue() -> None:
    first, *others = REPORT.groups
    assert (first.team, first.queue, first.asked, first.held, first.busy, first.waited) == (
        "osmo-workflows", B, 20, 18, 16, 2,
    )  # fmt: skip
    assert first.usd == 126
    assert {(each.team, each.queue): each.waited for each in others} == {("osmo-workflows", A): 20, ("team-x", ""): 0}
    assert REPORT.held == 25
    assert REPORT.capacity == 100


def test_waits_are_of_pods_and_not_of_gpus() -> None:
    """`fine` waited for an hour with two GPUs, `waits` for five hours with four."""
    by_name = {each.name: each for each in REPORT.queues}
    assert (by_name[B].pods, by_name[B].median, by_name[B].p90) == (2, 0, 1)
    assert (by_name[A].pods, by_name[A].median, by_name[A].p90) == (2, 0, 5)
    assert by_name[""].median == 0


def test_a_queue_below_its_guarantee_whose_pods_waited_is_named() -> None:
    by_name = {each.name: each for each in REPORT.queues}
    assert by_name[A].quota == 168
    assert by_name[A].quota_share == 0.25
    assert by_name[A].short
    assert by_name[""].quota is None
    assert not by_name[""].short
    assert sum(each.share for each in REPORT.queues) == pytest.approx(1)
    used = usage_report({**RESULTS, "held": [held("bad", 200)]}, PRICES, {A: 1}, "7d")
    assert not any(each.short for each in used.queues)


def test_losses_by_their_cause() -> None:
    found = {(each.what, each.pool): (each.hours, each.usd, each.pods) for each in REPORT.losses}
    assert found == {
        ("work of Pods: their node left, evicted, replaced or scaled down", "h100gpu"): (8, 56, 1),
        ("work of Pods: failed", "a10gpu"): (4, 8, 1),
        ("work of Pods: deleted while running, by a drain, the scheduler or their owner", "h100gpu"): (
            3,
            21,
            1,
        ),
        ("nodes that took no work: cordoned, in repair, not ready", "h100gpu"): (5, 35, 0),
        ("GPUs that their node did not offer: faults", "a10gpu"): (2, 4, 0),
    }


def test_what_runs_or_has_succeeded_is_not_lost() -> None:
    results = {**RESULTS, "running": [pod("shell", 1, "team-x"), pod("cut")], "evicted": [pod("bad")]}
    found = [each.what for each in usage_report(results, PRICES, {}, "7d").losses if each.pods]
    assert found == ["work of Pods: evicted by their node"]


def test_without_waits_and_quotas_nothing_is_invented() -> None:
    (queue,) = usage_report({"asked": [pod("a", 2)], "held": [held("a", 1)]}, {}, {}, "1d").queues
    assert (queue.median, queue.p90, queue.quota, queue.quota_share, queue.share) == (None, None, None, None, 1)
    empty = usage_report({}, {}, {}, "1d")
    assert (empty.groups, empty.queues, empty.losses, empty.held) == ((), (), (), 0)
    assert "no GPU-hours are recorded" in text(empty, "dev-westus2", "now")


@pytest.mark.parametrize(
    ("values", "share", "found"),
    [
        ([], 0.5, None),
        ([3.0], 0.9, 3),
        ([1.0, 2.0, 3.0, 4.0], 0.5, 2),
        ([float(each) for each in range(1, 11)], 0.9, 9),
    ],
)
def test_percentiles(values: list[float], share: float, found: float | None) -> None:
    assert percentile(values, share) == found


def test_page_and_text_say_the_same_and_load_nothing() -> None:
    at = "2026-11-28 06:00 UTC"
    page, plain = html(REPORT, "dev-westus2", at), text(REPORT, "dev-westus2", at)
    assert not re.search(r"https?:|src=|<script|<link|url\(", page)
    for words in ("Held: 25.0 GPU-hours of 100.0 that nodes had (25%)", "Lost: 22.0 GPU-hours, 124 USD",
                  f"Below their guarantee while Pods waited: {A}.", "nodes that took no work", "5.0 h"):  # fmt: skip
        assert words in page
        assert words in plain
    assert html(REPORT, "dev-westus2", "2026-11-28 06:00 UTC") == page
    hostile = usage_report({"asked": [pod("a", 2, "<script>")]}, {}, {}, "1d")
    assert "<script>" not in html(hostile, "s", "now")


def test_a_mail_has_both_parts_and_is_the_same_each_time() -> None:
    written = mail(REPORT, "dev-westus2", "2026-11-28 06:00 UTC")
    assert written == mail(REPORT, "dev-westus2", "2026-11-28 06:00 UTC")
    assert max(map(len, written.splitlines())) < 999
    found = cast("EmailMessage", email.message_from_string(written, policy=email.policy.default))
    assert found["Subject"] == "GPUs of dev-westus2: use, waits and losses of the last 7d"
    plain, page = (found.get_body((kind,)) for kind in ("plain", "html"))
    assert plain is not None
    assert page is not None
    assert plain.get_content().strip() == text(REPORT, "dev-westus2", "2026-11-28 06:00 UTC").strip()
    assert page.get_content().strip() == html(REPORT, "dev-westus2", "2026-11-28 06:00 UTC").strip()


@pytest.mark.parametrize(("name", "problem"), [("week.pdf", "week.html"), ("absent/week.html", "a folder that exists")])
def test_a_file_that_cannot_be_written_is_explained(name: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(NoReport, match=problem):
        write_report(REPORT, "dev-westus2", "now", tmp_path / name)


def test_guarantees_of_queues_are_those_of_the_settings() -> None:
    assert guarantees(load("dev-westus2").settings) == {}
    loaded = load("dev-westus2", [Overlay.assign(["osmo.queues=perPool", "osmo.platforms.h100gpu.quota.guarantee=4"])])
    assert guarantees(loaded.settings)[B] == 4


def test_the_command_writes_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, str] = {}

    def ask(_: str, given: dict[str, str]) -> dict[str, list[Sample]]:
        asked.update(given)
        return {name: list(RESULTS.get(name, ())) for name in given}

    monkeypatch.setattr(prometheus, "ask", ask)
    monkeypatch.setattr(Telemetry, "is_running", lambda self: False)
    file = tmp_path / "week.html"
    code, out, err = call("usage", "dev-westus2", "--report", str(file), "--json")
    assert code == 0, err
    assert json.loads(out)["usage"]
    assert "week.html and " in err
    assert asked == report_queries("7d")
    assert set(queries("7d").items()) <= set(asked.items())
    assert "Held: 25.0 GPU-hours" in file.read_text()
    assert "Held: 25.0 GPU-hours" in file.with_suffix(".txt").read_text()
    assert call("usage", "dev-westus2", "--report", str(tmp_path / "week.pdf"))[0] == 2


def test_a_report_of_a_recording_has_the_recordings_time(tmp_path: Path) -> None:
    from workbench.cli.usage_report import write

    at = datetime.datetime(2026, 11, 20, 7, 30, tzinfo=datetime.UTC)
    recorded: Any = SimpleNamespace(now=at)
    write(tmp_path / "week.html", RESULTS, load("dev-westus2").settings, "7d", recorded)
    assert "As of 2026-11-20 07:30 UTC." in (tmp_path / "week.txt").read_text()
