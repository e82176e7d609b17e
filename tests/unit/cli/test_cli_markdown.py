"""A preview as Markdown: golden files, and what must hold whatever a document says."""

from __future__ import annotations

import copy
import json
from typing import Any

from tests.golden import regenerate
from workbench.cli.preview import markdown
from workbench.cli.preview.markdown import Detail


def document(name: str) -> dict[str, Any]:
    return json.loads((regenerate.PREVIEWS / f"{name}.json").read_text())


def test_previews_read_as_in_the_golden_files() -> None:
    golden = {each.stem: each.read_text() for each in regenerate.PREVIEWS.glob("*.md")}
    assert set(golden) >= {"replacement", "new-stack"}
    assert regenerate.previews() == golden, f"{regenerate.COMMAND} writes them anew"


def row(text: str, name: str) -> str:
    (found,) = [line for line in text.splitlines() if line.startswith("|") and name in line]
    return found


def test_a_replaced_gpu_pool_is_bold_first_and_shows_its_impact() -> None:
    shown = markdown.stack(document("replacement"))
    first = [line for line in shown.splitlines() if line.startswith("| ")][1]
    assert first.startswith("| **replace** | **AgentPool `physical-ai-h100gpu-nodes`**")
    assert "(replaces)" in first
    for cost in ("1 node lost", "6 to 15 minutes", "installs the driver on each"):
        assert cost in first
    assert "**" not in row(shown, "physical-ai-grid-driver-agent")


def test_an_empty_preview_has_a_headline() -> None:
    quiet = document("replacement") | {"changes": [], "summary": {}}
    assert markdown.stack(quiet).splitlines()[0] == "### `dev-westus2`: no changes"
    assert "| resource |" not in markdown.stack(quiet)


def test_a_table_keeps_its_columns_whatever_the_values_are() -> None:
    nasty = document("replacement")
    nasty["changes"] = nasty["changes"][:1]
    nasty["changes"][0]["name"] = "a`b|c"
    nasty["changes"][0]["differences"] = [
        {"path": "spec|x", "before": "one\ntwo", "after": "``|</td><script>", "replaces": False}
    ]
    (line,) = [line for line in markdown.stack(nasty).splitlines() if "a`b" in line]
    assert len(line.replace("\\|", "").split("|")) == 5
    assert "one two" in line
    assert "``` ``" in line or "```" in line


def test_text_contains_no_mentions_and_no_markup() -> None:
    said = markdown.text("see <b>@team</b> #12 *now* `a|b` [x](y)\nand on")
    assert "@team" not in said
    assert "#12" not in said
    assert "<b>" not in said.replace("\\<b\\>", "")
    assert "`a\\|b`" in said
    assert "\n" not in said


def test_long_lists_are_folded_and_kinds_are_counted() -> None:
    shown = markdown.stack(document("new-stack"))
    visible = shown.split("<details>")[0]
    assert "Also creates 5 Namespace" in visible
    assert "AgentPool `physical-ai-h100gpu-nodes`" in visible
    assert "physical-ai-grid-driver-files" not in visible
    assert "physical-ai-grid-driver-files" in shown


def test_less_detail_is_shorter_and_keeps_what_is_lost() -> None:
    full = document("replacement")
    lengths = [len(markdown.stack(full, detail)) for detail in (Detail.COUNTS, Detail.SHOWN, Detail.ALL)]
    assert lengths == sorted(lengths)
    assert len(set(lengths)) == 3
    assert "1 node lost" in row(markdown.stack(full, Detail.COUNTS), "h100gpu-nodes")


def test_the_cost_is_an_estimate_with_a_date_and_names_what_has_no_price() -> None:
    shown = markdown.stack(document("replacement"))
    (line,) = [line for line in shown.splitlines() if line.startswith("**Cost**")]
    assert "estimate, list prices of 2026-" in line
    assert "**+$0 / +$5,095 / +$10,191** a month" in line
    assert "Not included, for lack of a price: `system`, `cpu`." in shown


def test_findings_link_to_their_reasons() -> None:
    shown = markdown.stack(document("new-stack"))
    assert "- warning [spot-in-dev](https://learn.microsoft.com/" in shown


def test_an_error_of_the_versions_is_not_folded_away() -> None:
    wrong = copy.deepcopy(document("replacement"))
    wrong["compat"]["verdicts"][0]["severity"] = "error"
    visible = markdown.stack(wrong).split("<details>")[0]
    assert "- **error** chart-checksum-unknown" in visible
