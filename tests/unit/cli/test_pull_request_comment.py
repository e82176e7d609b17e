"""The one comment on a pull request: what it says when all goes well, when something fails, and when it is too long."""

from __future__ import annotations

import copy
import json
from typing import Any

from tests.golden.regenerate import PREVIEWS
from workbench.cli.pull_request.affected import Affected, Kind
from workbench.cli.pull_request.comment import LIMIT, MARKER, Report, comment

FILES = ("stacks/Pulumi.dev-westus2.yaml",)


def document(name: str = "replacement", stack: str = "dev-westus2") -> dict[str, Any]:
    return {**json.loads((PREVIEWS / f"{name}.json").read_text()), "stack": stack}


def report(stack: str = "dev-westus2", kind: Kind = Kind.CHANGED, **more: Any) -> Report:
    return Report(Affected(stack, kind, FILES), **more)


def large(stack: str, changes: int) -> dict[str, Any]:
    """A preview with many updates of long values."""
    found = document(stack=stack)
    update = copy.deepcopy(found["changes"][0])
    found["changes"] += [{**update, "name": f"{update['name']}-{index}", "op": "update"} for index in range(changes)]
    return found


def test_the_first_line_is_the_marker_by_which_it_is_found_again() -> None:
    assert comment([], []).splitlines()[0] == MARKER
    assert comment([report(document=document())], FILES).startswith(f"{MARKER}\n")


def test_it_begins_with_whose_work_each_stack_ends() -> None:
    work = {"headline": "Ends 1 Job (3 GPU-hours since the last checkpoint or start).", "lines": []}
    changed = report(document={**document(), "impact": work})
    unchanged = report("prod-westus2", document={**document(stack="prod-westus2"), "impact": None})
    lines = comment([changed, unchanged], FILES).splitlines()
    assert lines[4] == "- `dev-westus2`: Ends 1 Job (3 GPU-hours since the last checkpoint or start)."
    assert lines[5] == "", "a stack without running work that changes has no line"


def test_a_change_of_documents_affects_no_stack() -> None:
    assert "no stack is affected" in comment([], ["README.md"])


def test_a_line_for_each_stack_and_then_each_preview() -> None:
    shown = comment([report(document=document())], FILES)
    assert (
        "| `dev-westus2` | **1 to replace**, 5 to update, **1 node lost** | no finding | 1 for information |" in shown
    )
    assert shown.index("| `dev-westus2` |") < shown.index("### `dev-westus2`")
    assert "Affected by `stacks/Pulumi.dev-westus2.yaml`." in shown


def test_a_new_stack_is_called_new() -> None:
    shown = comment([report(kind=Kind.NEW, document=document("new-stack"))], FILES)
    assert "| new: 69 to create |" in shown
    assert "new, **+$0 / +$9,110 / +$18,221** a month" in shown


def test_a_removed_stack_still_exists_in_azure() -> None:
    shown = comment([report(kind=Kind.REMOVED)], FILES)
    assert "### `dev-westus2`: removed" in shown
    assert "remains until you destroy it" in shown


def test_the_output_of_a_failed_base_is_shown_beside_the_preview() -> None:
    shown = comment([report(document=document("new-stack"), base_failed="refused:\n``` no")], FILES)
    assert "The base could not be simulated" in shown
    assert "````text\nrefused:\n``` no\n````" in shown
    assert "69 to create, as a new stack | " in shown
    assert "| not compared |" in shown
    assert "ManagedCluster" in shown


def test_the_output_of_a_failed_head_is_shown() -> None:
    shown = comment([report(head_failed="'Standard_X' is not a VM size")], FILES)
    assert "the preview of the head failed" in shown
    assert "'Standard_X' is not a VM size" in shown


def test_of_many_stacks_those_are_folded_that_lose_nothing() -> None:
    quiet = {**document(), "changes": [], "summary": {}}
    names = ("a-westus2", "b-westus2", "c-westus2")
    reports = [report(name, document={**quiet, "stack": name}) for name in names[:2]]
    shown = comment([*reports, report(names[2], document=document(stack=names[2]))], FILES)
    assert "<details><summary>a-westus2: no changes</summary>" in shown
    assert "### `c-westus2`: **1 to replace**" in shown
    assert shown.count("<details>") == shown.count("</details>")


def test_a_long_comment_is_shortened_where_it_is_longest_with_a_note() -> None:
    reports = [report("a-westus2", document=large("a-westus2", 900)), report("b-westus2", document=document())]
    shown = comment(reports, FILES)
    assert len(shown.encode()) <= LIMIT
    assert "Omitted, because GitHub allows 65,536 characters: details of `a-westus2`." in shown
    assert "1 node lost" in shown
    assert "chart-checksum-unknown" in shown.split("### `dev-westus2`")[1]


def test_however_small_the_limit_it_is_kept_and_the_table_is_removed_last() -> None:
    reports = [report(f"s{index}-westus2", document=large(f"s{index}-westus2", 50)) for index in range(4)]
    full = len(comment(reports, FILES, limit=10**9).encode())
    for limit in (full - 1, full // 2, full // 4, 2500, 1200, 300):
        shown = comment(reports, FILES, limit=limit)
        assert len(shown.encode()) <= limit
        assert shown.startswith(MARKER)
        assert "Omitted" in shown or "Truncated" in shown
    assert "| `s3-westus2` |" in comment(reports, FILES, limit=2500)
    assert "all of `s0-westus2`" in comment(reports, FILES, limit=2500)
