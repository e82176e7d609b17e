"""The callbacks in which Isaac Lab waits for a timeline that is never started again.

Isaac Lab up to 2.x subscribes to the timeline's STOP event and renders until the timeline plays (isaac-sim/IsaacLab,
simulation_context.py). Closing stops the timeline, so the loop has no end. In 3.x the loop is gone; its betas moved
flag and subscription to an object that the context holds. So nothing here checks a version: loaded objects
that have the attributes are changed, all others are left alone. stop() and detach_stage() are never called.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping
from typing import Any, cast

FLAG = "_disable_app_control_on_stop_handle"
SUBSCRIPTION = "_app_control_on_stop_handle"

CONTEXT_MODULES = (
    "isaaclab.sim.simulation_context",
    "isaaclab.sim",
    "omni.isaac.lab.sim.simulation_context",
    "omni.isaac.lab.sim",
)
"""Where Isaac Lab 2.x and 3.x, and 1.x, keep the class SimulationContext."""

_log = logging.getLogger("simulation_shutdown")


def loaded(module: str, name: str, modules: Mapping[str, Any] | None = None) -> Any:
    """An attribute of a loaded module, or None. Never loads a module."""
    found = (sys.modules if modules is None else modules).get(module)
    return getattr(found, "__dict__", {}).get(name)


def quiet_stop_callbacks(modules: Mapping[str, Any] | None = None) -> int:
    """Sets the flags and ends the subscriptions; the number of objects that had any. Never raises.

    A later `sim.reset()` sets the flag back (Isaac Lab 2.x), so this belongs after the last one.
    """
    found = sum(_quiet(holder) for context in _contexts(modules) for holder in _holders(context))
    if not found:
        _log.debug("no stop callback of Isaac Lab is loaded")
    return found


def _contexts(modules: Mapping[str, Any] | None) -> list[Any]:
    contexts: list[Any] = []
    for module in CONTEXT_MODULES:
        kind = loaded(module, "SimulationContext", modules)
        if kind is None:
            continue
        try:
            context = kind.instance()
        except Exception:
            _log.warning("%s.SimulationContext returns no instance", module, exc_info=True)
            continue
        if context is not None and not any(context is other for other in contexts):
            contexts.append(context)
    return contexts


def _holders(context: Any) -> Iterator[Any]:
    """The context and its attributes, alone or in a list: the betas of 3.x keep visualizers in one."""
    yield context
    for value in list(_attributes(context).values()):
        if type(value) in (list, tuple):
            yield from tuple(value)
        else:
            yield value


def _attributes(holder: Any) -> dict[str, Any]:
    """An object's own attributes. Properties are not evaluated; classes, dead references and the like have none."""
    try:
        found = cast("object", getattr(holder, "__dict__", None))
    except Exception:
        return {}
    return cast("dict[str, Any]", found) if type(found) is dict else {}


def _quiet(holder: Any) -> bool:
    attributes = _attributes(holder)
    if FLAG not in attributes and SUBSCRIPTION not in attributes:
        return False
    try:
        if FLAG in attributes:
            setattr(holder, FLAG, True)
        subscription = attributes.get(SUBSCRIPTION)
        if subscription is not None:
            subscription.unsubscribe()
            setattr(holder, SUBSCRIPTION, None)
    except Exception:
        _log.warning("%s keeps its stop callback", type(holder).__name__, exc_info=True)
    return True
