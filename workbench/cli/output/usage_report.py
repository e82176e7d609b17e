"""Report about use, waits and losses as a file: HTML with a text beside it, or a mail with both."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from physical_ai.telemetry.usage_report import Queue, UsageReport

_STYLE = (
    "body{font:14px sans-serif;color:#1b1f24;background:#fff;max-width:60em}"
    "table{border-collapse:collapse;margin:1em 0}"
    "th,td{padding:3px 10px;border-bottom:1px solid #d7dce1;text-align:right}"
    "th:first-child,td:first-child{text-align:left}p{max-width:50em}"
)
NOTE = (
    "A team is a namespace. A Pod waits while it asks for GPUs and has no node. GPU-hours of Pods that ended without a"
    " result are those that they had held: what a checkpoint kept is not lost. Money is the list price."
)
BOUNDARY = "physai-usage-report"
"""Line between the parts of a mail; fixed, so that the same figures give the same file."""


class NoReport(Exception):
    """Error if the report's file has another ending than .html and .eml, or cannot be written; the text has the reason
    and what to write instead.
    """


class _Table(NamedTuple):
    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    empty: str


def write_report(report: UsageReport, stack: str, at: str, file: Path) -> list[Path]:
    """Writes a report to a file, and for HTML the same as text beside it. Returns the files.

    Args:
        at: Time of the figures, such as `2026-11-28 06:00 UTC`.

    Raises:
        NoReport: the file's name ends with neither .html nor .eml, or it cannot be written.
    """
    if file.suffix == ".html":
        texts = {file: html(report, stack, at), file.with_suffix(".txt"): text(report, stack, at)}
    elif file.suffix == ".eml":
        texts = {file: mail(report, stack, at)}
    else:
        raise NoReport(f"{file}: write {file.with_suffix('.html')}, or {file.with_suffix('.eml')} for a mail")
    try:
        for each, content in texts.items():
            each.write_text(content, encoding="utf-8")
    except OSError as problem:
        raise NoReport(f"{file}: {problem.strerror}; write the path of a file in a folder that exists") from None
    return list(texts)


def html(report: UsageReport, stack: str, at: str) -> str:
    """The report as a page that loads nothing else."""
    parts = [
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(_title(report, stack))}</title>',
        f"<style>{_STYLE}</style></head><body>",
        f"<h1>{escape(_title(report, stack))}</h1>",
        *(f"<p>{escape(line)}</p>" for line in _summary(report, at)),
        *(_html_table(each) for each in _tables(report)),
        f"<p>{escape(NOTE)}</p>",
        "</body></html>\n",
    ]
    return "\n".join(parts)


def text(report: UsageReport, stack: str, at: str) -> str:
    """The report as text, with the same content as the page."""
    parts = [_title(report, stack), "", *_summary(report, at), ""]
    for each in _tables(report):
        parts += [each.title, *_text_rows(each), ""]
    return "\n".join([*parts, NOTE, ""])


def mail(report: UsageReport, stack: str, at: str) -> str:
    """The report as a mail without addresses, with a text and an HTML part."""
    from email.message import EmailMessage
    from email.policy import SMTP

    found = EmailMessage(policy=SMTP.clone(linesep="\n"))
    found["Subject"] = _title(report, stack)
    found.set_content(text(report, stack, at), cte="quoted-printable")
    found.add_alternative(html(report, stack, at), subtype="html", cte="quoted-printable")
    found.set_boundary(BOUNDARY)
    return found.as_string()


def _title(report: UsageReport, stack: str) -> str:
    return f"GPUs of {stack}: use, waits and losses of the last {report.span}"


def _summary(report: UsageReport, at: str) -> list[str]:
    usd = sum(each.usd for each in report.groups)
    lost = sum(each.hours for each in report.losses)
    money = sum(each.usd or 0.0 for each in report.losses)
    share = (
        f" of {report.capacity:,.1f} that nodes had ({report.held / report.capacity:.0%})" if report.capacity else ""
    )
    found = [
        f"As of {at}.",
        f"Held: {report.held:,.1f} GPU-hours{share}, {usd:,.0f} USD. Lost: {lost:,.1f} GPU-hours, {money:,.0f} USD.",
    ]
    short = [each.name for each in report.queues if each.short]
    if short:
        found.append(f"Below their guarantee while Pods waited: {', '.join(short)}.")
    return found


def _tables(report: UsageReport) -> list[_Table]:
    groups = [
        [each.team, each.queue or "–", *(f"{value:,.1f}" for value in (each.asked, each.waited, each.held, each.busy,
                                                                      each.idle)), f"{each.usd:,.0f}"]
        for each in report.groups
    ]  # fmt: skip
    queues = [_queue_row(each) for each in report.queues]
    losses = [
        [each.what, each.pool or "–", str(each.pods or "–"), f"{each.hours:,.1f}",
         "–" if each.usd is None else f"{each.usd:,.0f}"]
        for each in report.losses
    ]  # fmt: skip
    return [
        _Table(
            "GPU-hours by team and queue",
            ("team", "queue", "asked", "waited", "held", "busy", "idle", "USD"),
            groups,
            "no GPU-hours are recorded",
        ),
        _Table(
            "Waits and shares by queue",
            (
                "queue",
                "Pods",
                "median wait",
                "90 % waited at most",
                "share held",
                "share of guarantees",
                "of its guarantee",
            ),
            queues,
            "no queue had work",
        ),
        _Table("Losses", ("what", "pool", "Pods", "GPU-hours", "USD"), losses, "nothing was lost"),
    ]


def _queue_row(queue: Queue) -> list[str]:
    return [
        queue.name or "no queue",
        str(queue.pods),
        _wait(queue.median),
        _wait(queue.p90),
        f"{queue.share:.0%}",
        "–" if queue.quota_share is None else f"{queue.quota_share:.0%}",
        "–" if not queue.quota else f"{queue.held / queue.quota:.0%}",
    ]


def _wait(hours: float | None) -> str:
    if hours is None:
        return "not known"
    return f"{hours:.1f} h" if hours >= 1 else f"{hours * 60:.0f} min"


def _html_table(table: _Table) -> str:
    if not table.rows:
        return f"<h2>{escape(table.title)}</h2>\n<p>{escape(table.empty)}</p>"
    head = "".join(f"<th>{escape(each)}</th>" for each in table.head)
    rows = "\n".join(f"<tr>{''.join(f'<td>{escape(each)}</td>' for each in row)}</tr>" for row in table.rows)
    return f"<h2>{escape(table.title)}</h2>\n<table><tr>{head}</tr>\n{rows}</table>"


def _text_rows(table: _Table) -> list[str]:
    if not table.rows:
        return [f"  {table.empty}"]
    lines = [list(table.head), *map(list, table.rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(table.head))]
    return [
        "  " + "  ".join(f"{cell:<{widths[0]}}" if not index else f"{cell:>{widths[index]}}" for index, cell in
                         enumerate(line)).rstrip()
        for line in lines
    ]  # fmt: skip
