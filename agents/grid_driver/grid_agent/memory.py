"""What the agent has to remember between two steps, also across its own death and a reboot."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, cast

from grid_agent.facts import Condition
from grid_agent.steps import State, Step
from grid_agent.wanted import Target


@dataclass(frozen=True)
class Failure:
    """Failed attempts at one step for one build."""

    count: int = 0
    hard: int = 0
    """Those of them that speak against the build rather than the weather; they bring the end of attempts."""
    sentence: str = ""
    retry_at: float = 0.0
    """Not before this time (seconds since the epoch)."""
    tired: bool = False
    """As many as the timings allow: the node counts as blocked, and an older driver is restored where there is one."""
    final: bool = False
    """Trying again is no use before the settings change, or does harm."""


DONE = (State.READY, State.REMOVED)
"""The node matches the settings: the driver is verified, or removed if they require that. A rollout then continues."""


@dataclass(frozen=True)
class Memory:
    """JSON-able by `to_document`. A new one is right on a new node, and harmless on any other."""

    state: State = State.INSPECTING
    since: float = 0.0
    """When this state began."""
    reason: str = "Inspecting"
    sentence: str = "The agent has not checked this node yet."
    upcoming: tuple[Step, ...] = ()
    """The current plan."""
    digest: str = ""
    """Of the settings that the attempts below belong to."""
    retry_token: str = ""
    kernel: str = ""
    failures: Mapping[str, Failure] = field(default_factory=dict[str, Failure])
    """Step -> failed attempts with the present target."""
    done: str = ""
    """The step that succeeded last. A plan that repeats it at once shows that it did not help."""
    begun: str = ""
    """The step that is being performed now; found after a crash, it is the step that the crash interrupted."""
    last_job: str = ""
    """Id of the last job whose end is recorded."""
    jobs_started: int = 0
    verified: Target | None = None
    """The build that last passed every check on this node."""
    previous: Target | None = None
    """The build that was in service before the change that is under way."""
    rolled_back: str = ""
    """Why the wanted build was given up in favour of `previous`; empty: it was not."""
    loaded_at: float = 0.0
    """When this agent last loaded the modules."""
    driver_since: float = 0.0
    """Since when the driver has been verified without a break; Pods that checked before may have found another."""
    boot_id: str = ""
    """The boot `driver_since` belongs to."""
    changed: bool = False
    """The driver was changed in this boot: Pods of the operator that ran before still use the old one."""
    gated_at: float = 0.0
    """When the gate was closed; 0: it is open, or was never closed by this agent."""
    starts: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    """Operand's uid -> when it began as kubelet's clock has it, and as the agent's does."""
    looked_at: float = 0.0
    """When the API server last answered."""
    kicks: Mapping[str, float] = field(default_factory=dict[str, float])
    """Operand -> when its pod was last deleted."""
    reported: Condition | None = None
    reported_at: float = 0.0
    checked_at: float = 0.0
    """When the host was last checked."""
    seen: Mapping[str, str] = field(default_factory=dict[str, str])
    """`installed` (version that works), `kernel`, `licence`, as of then."""
    durations: Mapping[str, float] = field(default_factory=dict[str, float])
    """State -> seconds of the last stay in it."""
    attempts: Mapping[str, int] = field(default_factory=dict[str, int])
    """Step -> how often it was performed or started, ever; a counter for metrics."""
    failed: Mapping[str, int] = field(default_factory=dict[str, int])
    """Step -> how often it failed, ever."""
    faults: int = 0
    """Steps in a row in which the agent itself failed, so that nothing is known of the node since."""

    @property
    def is_done(self) -> bool:
        """The node was just found as the settings require it: the driver is verified, or removed."""
        return self.state in DONE and not self.faults


_DEFAULTS = asdict(Memory())


def to_document(memory: Memory) -> dict[str, Any]:
    return {"format": 1, **asdict(memory)}


def from_document(document: Mapping[str, Any]) -> Memory:
    """The inverse of `to_document`. Raises KeyError, TypeError or ValueError on a document of another format."""
    if document.get("format") != 1:
        raise ValueError("memory of another format")
    given: dict[str, Any] = {key: value for key, value in document.items() if key != "format"}
    for name, default in _DEFAULTS.items():
        given[name] = _of_kind(name, given.get(name, default), default)
    given["state"] = State(given["state"])
    given["upcoming"] = tuple(Step(step) for step in given["upcoming"])
    given["begun"], given["done"] = (Step(given[name]).value if given[name] else "" for name in ("begun", "done"))
    given["failures"] = {Step(key).value: _made(Failure, value) for key, value in given["failures"].items()}
    for name in ("verified", "previous"):
        given[name] = _target(given[name]) if given[name] else None
    given["reported"] = _made(Condition, given["reported"]) if given["reported"] else None
    for name, number in (("kicks", float), ("durations", float), ("attempts", int), ("failed", int)):
        given[name] = {str(key): _of_kind(name, value, number()) for key, value in given[name].items()}
    given["seen"] = {str(key): _of_kind("seen", value, "") for key, value in given["seen"].items()}
    given["starts"] = {str(key): _pair(value) for key, value in given["starts"].items()}
    return replace(Memory(), **given)


def _pair(value: Any) -> tuple[float, float]:
    raw, at = (_of_kind("starts", each, 0.0) for each in value)
    return raw, at


def _of_kind(name: str, value: Any, default: Any) -> Any:
    """A value of the same kind as its default. Times may be whole numbers; no number is infinite."""
    if default is None:
        fits = value is None or isinstance(value, dict)
    elif isinstance(default, bool) or isinstance(value, bool):
        fits = isinstance(default, bool) and isinstance(value, bool)
    elif isinstance(default, float):
        fits = isinstance(value, (int, float)) and math.isfinite(value)
    else:
        kinds = next((kind for kind in (str, int, dict, tuple) if isinstance(default, kind)), object)
        fits = isinstance(value, (list, tuple) if kinds is tuple else kinds)
    if not fits:
        raise TypeError(f"{name} is {value!r}")
    return cast("Any", value)


def _made(kind: Callable[..., Any], document: Any) -> Any:
    """A Failure or Condition from its fields."""
    defaults: dict[str, Any] = asdict(Failure()) if kind is Failure else dict.fromkeys(document, "")
    return kind(**{name: _of_kind(name, value, defaults[name]) for name, value in document.items()})


def _target(document: Mapping[str, Any]) -> Target:
    given = {name: _of_kind(name, value, "") for name, value in document.items() if name != "urls"}
    return Target(**given, urls=tuple(_of_kind("urls", url, "") for url in _of_kind("urls", document["urls"], ())))
