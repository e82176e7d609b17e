"""Output of `lint`: findings, the objects that OSMO would create, and the nodes on which the Pods could run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from physical_ai.untrusted.text import inert, inert_json, printable
from workbench.cli.console import STYLES, err

if TYPE_CHECKING:
    from workbench.osmo.lint import Checked, Context


def print_findings(checked: Sequence[Checked], context: Context, *, listed: bool) -> None:
    """Prints the findings if `listed` is true, and then a summary, all on stderr. Stdout is kept free for rendered
    objects and annotations.
    """
    from workbench.osmo.lint.report import summary, text

    for one in checked if listed else ():
        for finding in one.findings:
            head, *rest = [printable(line) for line in text(finding).split("\n")]
            err.print(head, markup=False, style=STYLES[finding.severity])
            err.print("\n".join(rest), markup=False)
    err.print(summary(checked, context.name), markup=False)


def print_annotations(checked: Sequence[Checked]) -> None:
    """Prints findings as workflow commands of GitHub Actions."""
    from workbench.osmo.lint.report import github

    for one in checked:
        for finding in one.findings:
            print(github(finding))


def print_objects(checked: Sequence[Checked], kinds: Sequence[str] | None) -> None:
    """Prints objects as YAML documents, in the order of their creation."""
    import json

    import yaml

    from physical_ai.planning.osmo_service import Plain
    from workbench.osmo.lint.report import as_json

    for one in checked:
        for group in one.objects:
            for item in group.of(kinds):
                print(f"---\n{inert(f'# {printable(one.file)}: group {group.group}')}")
                text = yaml.dump(item, Dumper=Plain, sort_keys=False, allow_unicode=True, width=120)
                # JSON is YAML too, and can write any text so that no line is a command of a pipeline.
                print(text if inert(text) == text else f"{inert_json(json.dumps(as_json(item)))}\n", end="")


def print_placements(placed: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    for file, tasks in placed.items():
        for task in tasks:
            result = f"on {task['node']}" if task["node"] else f"gets no node: {task['message'] or task['status']}"
            style = None if task["node"] else "red"
            err.print(f"{file}: task {task['name']} ({task['platform']}) {result}", markup=False, style=style)
