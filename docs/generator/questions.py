"""docs/reference/azure-questions.md: what `physai check` asks Azure, and what Azure's codes mean."""

from __future__ import annotations

from collections.abc import Iterator

from docs.generator.markdown import code, table
from physical_ai.readiness.causes import azure_errors
from physical_ai.repository import ROOT
from workbench.preflight.questions import QUESTIONS

FILE = ROOT / "docs" / "reference" / "azure-questions.md"
_HEAD = """\
# Questions to Azure, and its codes

Generated from `workbench/preflight/questions.py` and `physical_ai/readiness/data/azure_errors.yaml` by
`python -m docs.generator`. `physai check STACK` asks the questions with the caller's login, and creates nothing;
`physai check --questions` prints them. An answer that is kept is in `azure-answers` in the user's cache folder,
readable by its owner only; `--fresh` asks again.
"""
_CODES = """\
## Azure's codes

One table for the verdict, the errors of a deployment, and the events of a cluster (`physai why`). A code that is not
here is shown in its own words with the pages to look it up; nothing is concluded from it. *Read*: the advice follows
the source that is named; *believed*: it follows from experience or from descriptions of others.
"""


def document() -> str:
    """The complete page."""
    head = ("finding", "what is asked", "request", "right", "without it", "kept")
    codes = table(("code", "advice", "source", "how", "date"), _codes())
    return "\n".join([_HEAD, "## Questions\n", table(head, _questions()), _CODES, codes])


def _questions() -> Iterator[tuple[str, ...]]:
    for each in QUESTIONS:
        kept = f"{each.hours} h" if each.hours else "no"
        yield each.topic, each.asks, code(each.request), each.right, each.without, kept


def _codes() -> Iterator[tuple[str, ...]]:
    for row in azure_errors().values():
        advice = row.deployment or f"{row.reason} {row.fix}".replace("{", "‹").replace("}", "›")
        yield row.symptom, advice, row.source, row.how, row.date.isoformat()
