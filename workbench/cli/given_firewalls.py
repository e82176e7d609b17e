"""Reader of files that describe Azure Firewalls outside of the stack, in the form of ARM's answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from workbench.policies import Resource
    from workbench.policies.flows.world import World

OPTION = "--firewall"
HOW = (
    "az network firewall show, az network firewall policy show, az network firewall policy rule-collection-group list"
    " or az network ip-group list prints with -o json"
)
FirewallFiles = Annotated[
    list[Path] | None,
    typer.Option(
        OPTION,
        metavar="FILE",
        help="Azure Firewall on the nodes' route, or its policies, rule collection groups or IP groups, as az prints"
        " them with -o json; repeatable.",
    ),
]


def given_firewalls(files: Sequence[Path]) -> list[Resource]:
    """The firewalls in files, and their policies and rules, as resources of a stack.

    Raises:
        typer.BadParameter: a file cannot be read, or has no part of a firewall.
    """
    from workbench.policies.flows.firewall_bodies import resources_of

    found: list[Resource] = []
    for file in files:
        own = list(resources_of(_bodies(file)))
        if not own:
            raise typer.BadParameter(f"{file}: has nothing of a firewall; write what {HOW}", param_hint=OPTION)
        found += own
    return found


def unused(world: World) -> Iterator[str]:
    """Notes about each firewall that no route of the nodes uses."""
    passed = {firewall.name for each in world.node_subnets for firewall in each.leaves.leads_to()}
    for each in world.firewalls:
        if each.name not in passed:
            yield f"no route of the nodes leads to the firewall {each.name}; only its DNAT rules count"


def _bodies(file: Path) -> list[Any]:
    from physical_ai.untrusted.files import Unreadable, read_text

    try:
        document: Any = json.loads(read_text(file))
    except Unreadable as problem:
        raise typer.BadParameter(f"{file}: {problem}", param_hint=OPTION) from None
    except (ValueError, RecursionError):
        raise typer.BadParameter(f"{file}: is no JSON; write what {HOW}", param_hint=OPTION) from None
    rows: Any = document.get("value", document) if isinstance(document, dict) else document  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - decoded JSON
    return rows if isinstance(rows, list) else [rows]  # pyright: ignore[reportUnknownVariableType] - as above
