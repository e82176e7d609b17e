"""One Markdown comment about all the stacks that a change affects, within GitHub's size limit."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.untrusted.text import printable
from workbench.cli.preview import markdown
from workbench.cli.preview.first_gpu_markdown import over_budget
from workbench.cli.preview.markdown import Detail, code, text
from workbench.cli.pull_request.affected import Affected, Kind

MARKER = "<!-- physai pr-preview -->"
"""First line of the comment. It marks the comment that a later run updates."""
LIMIT = 65_536
"""GitHub's limit on the length of a comment, in characters. Here the limit is applied to the comment's bytes, which are
never fewer than its characters.
"""
FILES = 3
"""Largest number of files that are listed as the reason why a stack is affected."""
UNFOLDED = 2
"""Largest number of affected stacks that the comment shows unfolded; with more stacks, all are folded."""


@dataclass(frozen=True)
class Report:
    """Result of previewing one affected stack. `document`: the stack's preview; None if the preview failed."""

    affected: Affected
    document: Mapping[str, Any] | None = None
    base_failed: str = ""
    """Error output of the base, if it could not be simulated. The head was then previewed as a new stack."""
    head_failed: str = ""
    """Error output of the head, if it could not be previewed."""
    picture: str = ""
    """Name of the file with a picture of the simulated base; empty without a picture."""


def comment(reports: Sequence[Report], files: Sequence[str], limit: int = LIMIT) -> str:
    """The comment, with at most `limit` bytes. It says which parts were left out.

    Args:
        files: All changed files.
    """
    details = {each.affected.stack: Detail.ALL for each in reports}
    dropped: set[str] = set()
    text = _text(reports, files, details, dropped)
    while _size(text) > limit:
        lengths = {name: _size(section) for name, section in _sections(reports, details, dropped).items()}
        reducible = {name: size for name, size in lengths.items() if details[name] > Detail.COUNTS}
        if reducible:
            longest = max(reducible, key=lambda name: reducible[name])
            details[longest] = Detail(details[longest] - 1)
        elif lengths:
            dropped.add(max(lengths, key=lambda name: lengths[name]))
        else:
            note = "\n\nTruncated: the comment is longer than GitHub allows.\n"
            return text.encode()[: limit - len(note.encode())].decode(errors="ignore") + note
        text = _text(reports, files, details, dropped)
    return text


def _text(reports: Sequence[Report], files: Sequence[str], details: Mapping[str, Detail], dropped: set[str]) -> str:
    parts = [MARKER, _head(reports, files)]
    if reports:
        parts += [_summary(reports), *_sections(reports, details, dropped).values()]
    shorter = [name for name, detail in details.items() if detail is not Detail.ALL and name not in dropped]
    if shorter or dropped:
        parts_left = [f"details of {', '.join(map(code, shorter))}"] if shorter else []
        parts_left += [f"all of {', '.join(map(code, sorted(dropped)))} but the row above"] if dropped else []
        how = "`make pr-preview BASE=…` shows them."
        parts.append(f"Omitted, because GitHub allows {LIMIT:,} characters: {'; '.join(parts_left)}. {how}")
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _head(reports: Sequence[Report], files: Sequence[str]) -> str:
    count = f"{len(files)} changed {'file' if len(files) == 1 else 'files'}"
    if not reports:
        return f"## Preview: no stack is affected\n\nNo stack depends on the {count}."
    stacks = f"{len(reports)} {'stack' if len(reports) == 1 else 'stacks'}"
    how = (
        "The base of each stack was deployed to the simulator, and the Pulumi engine previewed the head against it."
        " Azure and credentials were not used."
    )
    return "\n\n".join(part for part in (f"## Preview: {stacks} affected", _work(reports), f"{count}. {how}") if part)


def _work(reports: Sequence[Report]) -> str:
    """Impact on running work, a line for each stack, and a time to the first GPU that the change takes above a budget.
    Empty if there is neither.
    """
    found = {each.affected.stack: (each.document or {}).get("impact") for each in reports}
    lines = [f"- {code(stack)}: {text(impact['headline'])}" for stack, impact in found.items() if impact]
    lines += [f"- {code(each.affected.stack)}: {row}" for each in reports for row in over_budget(each.document or {})]
    return "\n".join(lines)


def _summary(reports: Sequence[Report]) -> str:
    lines = ["| stack | what changes | policies | versions | cost (estimate) |", "|---|---|---|---|---|"]
    return "\n".join([*lines, *(_line(each) for each in reports)])


def _line(report: Report) -> str:
    name = code(report.affected.stack)
    if report.affected.kind is Kind.REMOVED:
        return f"| {name} | **removed** | | | |"
    if report.document is None:
        return f"| {name} | **the preview of the head failed** | | | |"
    document = report.document
    new = "new: " if report.affected.kind is Kind.NEW else ""
    note = ", as a new stack" if report.base_failed else ""
    policies = markdown.severities(document["policy"]["findings"]) or "no finding"
    versions = markdown.severities(document["compat"]["verdicts"]) or "no finding"
    cost = "not compared" if report.base_failed else markdown.change_of_cost(document)
    return f"| {name} | {new}{markdown.headline(document)}{note} | {policies} | {versions} | {cost} |"


def _sections(reports: Sequence[Report], details: Mapping[str, Detail], dropped: set[str]) -> dict[str, str]:
    shown = [each for each in reports if each.affected.stack not in dropped]
    folds = len(reports) > UNFOLDED
    return {
        each.affected.stack: _section(each, details[each.affected.stack], folded=folds and not _needs_attention(each))
        for each in shown
    }


def _needs_attention(report: Report) -> bool:
    if report.document is None or report.base_failed:
        return True
    return any(change["disruptive"] for change in report.document["changes"])


def _section(report: Report, detail: Detail, *, folded: bool) -> str:
    stack = report.affected.stack
    parts: list[str] = []
    if report.affected.kind is Kind.REMOVED:
        parts.append(
            f"### {code(stack)}: removed\n\nIts file was deleted. What it deployed remains until you destroy it:"
            f" `pulumi destroy --stack {stack}` from a checkout that still has the file."
        )
    elif report.document is None:
        parts.append(f"### {code(stack)}: the preview of the head failed\n\n{_output(report.head_failed)}")
    else:
        parts.append(markdown.stack(report.document, detail).strip())
    if report.base_failed:
        problem = (
            "The base could not be simulated. This preview is of a new stack, so existing resources appear as new."
        )
        parts.insert(1, f"**{problem}** Its output:\n\n{_output(report.base_failed)}")
    picture = f"Picture of the cluster before the change: {code(report.picture)}, in the artifact of the workflow run."
    parts.append(" ".join(part for part in (_why(report.affected), picture if report.picture else "") if part))
    body = "\n\n".join(part for part in parts if part)
    if not folded:
        return body
    title, _, rest = body.partition("\n")
    return f"<details><summary>{_html(title.removeprefix('### '))}</summary>\n{rest}\n\n</details>"


def _why(affected: Affected) -> str:
    named = ", ".join(code(file) for file in affected.files[:FILES])
    more = f" and {len(affected.files) - FILES} more" if len(affected.files) > FILES else ""
    return f"Affected by {named}{more}." if named else ""


def _output(text: str) -> str:
    """Command output in a Markdown code block that no text in the output can end."""
    fence = "```"
    while fence in text:
        fence += "`"
    shown = "\n".join(printable(line) for line in text.split("\n"))
    return f"{fence}text\n{shown}\n{fence}"


def _html(title: str) -> str:
    """A headline without Markdown, for HTML elements in which GitHub does not render Markdown."""
    return html.escape(title.replace("`", "").replace("**", ""), quote=False)


def _size(text: str) -> int:
    return len(text.encode())
