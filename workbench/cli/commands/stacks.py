"""The `stacks` command: all committed stacks side by side, and how two of them differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from workbench.cli.console import doing, err, out, print_json
from workbench.cli.exit_codes import BAD_INPUT
from workbench.cli.options import Json, SpotFactor

if TYPE_CHECKING:
    from physical_ai.settings import Loaded, SettingsError

Diff = Annotated[
    tuple[str, str] | None,
    typer.Option(
        "--diff", metavar="A B", help="Only the settings in which two stacks differ, such as dev-westus2 prod-westus2."
    ),
]


def stacks(diff: Diff = None, spot_factor: SpotFactor = None, json: Json = False) -> None:
    """Compare all committed stacks: pools, monthly cost, and what each stack file sets over its layers."""
    if diff is not None:
        _compare(*diff, json=json)
        return
    from physical_ai.settings import SettingsError, existing, load
    from workbench.cli.output import stacks as output

    loaded: dict[str, Loaded] = {}
    broken: dict[str, SettingsError] = {}
    with doing("reading all stacks"):
        for name in existing():
            try:
                loaded[name] = load(name)
            except SettingsError as problem:
                broken[name] = problem
    rows = [output.row(each, spot_factor) for each in loaded.values()]
    if json:
        faults = [{"name": name, "faults": [str(fault) for fault in each.faults]} for name, each in broken.items()]
        print_json({"stacks": [document for document, _ in rows], "broken": faults})
    else:
        output.print_rows(rows)
    for problem in broken.values():
        err.print(str(problem), markup=False, style="red")
    if broken:
        raise typer.Exit(BAD_INPUT)


def _compare(first: str, second: str, *, json: bool) -> None:
    from physical_ai.settings import load
    from physical_ai.settings.compare import differences
    from workbench.cli.output.stacks import difference_rows, print_differences

    found = differences(load(first), load(second))
    if json:
        print_json({"a": first, "b": second, "settings": difference_rows(found)})
    elif not found:
        out.print(f"{first} and {second} have the same settings but for environment and region")
    else:
        print_differences(first, second, found)
