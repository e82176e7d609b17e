"""Decision about a node pool: the `Choice` to take within the price that the user accepts, and the change of settings
that the choice needs. Pure functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from physical_ai.settings import Loaded
from physical_ai.settings.facts.fallbacks import change
from workbench.preflight.capacity import Choice, Question, choices, chosen, difference, may_cost_more

Outcome = Literal["as it is", "change", "elsewhere", "price not accepted", "not known", "nowhere"]


@dataclass(frozen=True)
class Decision:
    """Decision about one node pool: all choices, the choice that is taken, and the change of settings for it."""

    pool: str
    choices: tuple[Choice, ...]
    taken: Choice | None
    outcome: Outcome
    layer: dict[str, Any]
    """Settings layer that makes the pool use the choice; empty if the settings need no change."""

    @property
    def settled(self) -> bool:
        """True if the decision gives a pool that the user accepts: with the present settings, with changed settings, or
        in another stack.
        """
        return self.outcome in ("as it is", "change", "elsewhere")

    def may_cost_more(self, choice: Choice) -> bool:
        return may_cost_more(choice, self.choices[0])

    def difference(self, choice: Choice) -> tuple[float, float] | None:
        return difference(choice, self.choices[0])


def decide(question: Question, name: str, wanted: int | None = None, *, accepts_price: bool) -> Decision:
    """The decision about a pool.

    Args:
        wanted: Number of the fallback that the user names. It is chosen even if Azure does not answer.
        accepts_price: True if the user accepts a choice that may make a node more expensive.
    """
    found = tuple(choices(question, name))
    taken = chosen(found, wanted)
    outcome = _outcome(found, taken, accepts_price=accepts_price)
    made: dict[str, Any] = {}
    if taken is not None and outcome == "change":
        pool = question.settings.pools[name]
        made = change(name, pool, pool.fallbacks[taken.index - 1])
        if not made:
            outcome = "as it is"
    return Decision(name, found, taken, outcome, made)


def _outcome(found: Sequence[Choice], taken: Choice | None, *, accepts_price: bool) -> Outcome:
    if taken is None:
        return "not known" if any(each.state == "unknown" for each in found) else "nowhere"
    if taken.state == "error":
        return "nowhere"
    if taken.index == 0:
        return "as it is"
    if may_cost_more(taken, found[0]) and not accepts_price:
        return "price not accepted"
    return "elsewhere" if taken.stack != found[0].stack else "change"


@dataclass(frozen=True)
class Difference:
    """A setting that a decision changes, with its value before and after."""

    path: str
    before: Any
    after: Any
    origin: str
    """File that sets the present value, or `default`."""

    def document(self) -> dict[str, Any]:
        return {"path": self.path, "before": self.before, "after": self.after, "from": self.origin}


def differences(loaded: Loaded, change: Mapping[str, Any]) -> list[Difference]:
    """Settings that the settings layer `change` changes, each with its values before and after, and the file that sets
    the value before.
    """
    found: list[Difference] = []
    pools: Mapping[str, Mapping[str, Any]] = change.get("pools", {})
    for name, values in pools.items():
        before = loaded.settings.pools[name].model_dump(mode="json", by_alias=True)
        for key, after in values.items():
            path = f"pools.{name}.{key}"
            origins = sorted({row.origin for row in loaded.explain(path)})
            found.append(Difference(path, before[key], after, ", ".join(origins)))
    return found


def layer(decisions: Sequence[Decision]) -> dict[str, Any]:
    """One settings layer with the changes of all decisions; empty if there are none."""
    pools: dict[str, Any] = {}
    for decision in decisions:
        pools.update(decision.layer.get("pools", {}))
    return {"pools": pools} if pools else {}
