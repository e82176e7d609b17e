"""Stages of a move and of its way back, in the order in which they run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from workbench.moves.layers import State


@dataclass(frozen=True)
class Stage:
    """One stage of a move.

    Attributes:
        kind: `settings`: the stack gets the settings of `state`. `prove`: the new pool's nodes are checked. `empty`: a
            pool takes no new Pods, and its work ends. `check`: something is compared, and nothing is changed.
        does: What the stage does. `{old}` and `{new}` stand for the names of the pools.
        back: Way back from the end of this stage.
        state: Settings that the stack has at the end of the stage.
        pool: Pool that the stage empties, opens or proves.
    """

    name: str
    kind: Literal["check", "settings", "prove", "empty", "open"]
    does: str
    back: str
    state: State
    pool: Literal["old", "new"] = "new"


_NOTHING = "Nothing was changed."
_BACK = "physai move {stack} {pool} --back"

FORWARD = (
    Stage(
        "plan",
        "check",
        "Compares what the move needs with quota, addresses and what runs: no work may be lost.",
        _NOTHING,
        "original",
    ),
    Stage(
        "add",
        "settings",
        "Adds the node pool {new} beside {old}. Work goes to {old}.",
        _BACK + " removes {new}, when nothing runs there.",
        "both",
    ),
    Stage(
        "prove",
        "prove",
        "Waits until a node of {new} offers its GPUs, and runs acceptance on its nodes.",
        _BACK + " removes {new}, when nothing runs there.",
        "both",
    ),
    Stage(
        "switch",
        "settings",
        "New workflows go to {new}. Running and waiting Pods stay with {old}, which gets no further nodes.",
        _BACK + " gives new workflows to {old} again, waits for what runs on {new}, and removes it.",
        "switched",
    ),
    Stage(
        "empty",
        "empty",
        "Cordons the nodes of {old}, and waits until their work has ended.",
        _BACK + " uncordons them, gives new workflows to {old} again, waits for what runs on {new}, and removes it.",
        "switched",
        "old",
    ),
    Stage(
        "remove",
        "settings",
        "Removes the node pool {old}, on which nothing runs.",
        _BACK + " creates {old} again, if Azure has the machines. After the end: a move in the other direction.",
        "moved",
    ),
    Stage(
        "confirm",
        "check",
        "Compares the nodes with the settings: {old} is gone.",
        "A move in the other direction.",
        "moved",
    ),
)
BACK = (
    Stage(
        "reopen",
        "open",
        "Uncordons the nodes of {old} that the move has cordoned.",
        "physai move {stack} {pool} --forward",
        "both",
        "old",
    ),
    Stage("return", "settings", "New workflows go to {old} again.", "physai move {stack} {pool} --forward", "both"),
    Stage(
        "empty-new",
        "empty",
        "Cordons the nodes of {new}, and waits until their work has ended.",
        "None: the move ends where it began.",
        "both",
    ),
    Stage("withdraw", "settings", "Removes the node pool {new}, on which nothing runs.", "A new move.", "original"),
    Stage("confirm-back", "check", "Compares the nodes with the settings: {new} is gone.", "A new move.", "original"),
)


def stages(*, back: bool) -> tuple[Stage, ...]:
    return BACK if back else FORWARD
