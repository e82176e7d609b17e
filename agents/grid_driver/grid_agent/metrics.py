"""Probes and metrics over HTTP, from the last memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from grid_agent.memory import Memory
from grid_agent.steps import State
from grid_agent.wanted import Wanted

STALE_SECONDS = 900.0
"""A loop that finished no step for so long is dead."""
QUIET_SECONDS = 300.0
"""Nothing is known any longer of a node whose last step ended so long ago: steps are half a minute apart."""
DEAD_FAULTS = 5
"""So is one that failed in so many steps in a row: kubelet restarts it."""


class Board:
    """What the loop last knew, for the probes' threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: tuple[Memory, Wanted | None] = (Memory(), None)
        self._at = self._checked = time.monotonic()

    def put(self, memory: Memory, wanted: Wanted) -> None:
        with self._lock:
            self._known, self._at = (memory, wanted), time.monotonic()
            if not memory.faults:
                self._checked = self._at

    def answer(self, path: str) -> tuple[int, str]:
        with self._lock:
            (memory, wanted), now = self._known, time.monotonic()
            age, checked = now - self._at, time.time() - (now - self._checked) if memory.checked_at else 0.0
        if path == "/healthz":
            if memory.faults >= DEAD_FAULTS:
                return 503, f"{memory.faults} steps in a row failed: {memory.sentence}\n"
            return (200, "ok\n") if age < STALE_SECONDS else (503, f"no step ended for {age:.0f} s\n")
        if path == "/readyz":
            state = memory.reason if memory.faults else memory.state.value
            if age >= QUIET_SECONDS:
                return 503, f"no step ended for {age:.0f} s; before that: {state}\n"
            return (200 if memory.is_done else 503), f"{state}: {memory.sentence}\n"
        if path == "/metrics":
            return 200, render(memory, wanted, checked, current=age < QUIET_SECONDS)
        return 404, "known: /healthz /readyz /metrics\n"


def render(memory: Memory, wanted: Wanted | None, checked: float = 0.0, *, current: bool = True) -> str:
    """The Prometheus text format.

    Args:
        checked: When the host was last checked, in seconds since the epoch.
        current: Whether the last step ended lately.
    """
    return "".join(f"{line}\n" for line in _lines(memory, wanted, checked, current))


def _lines(memory: Memory, wanted: Wanted | None, checked: float, current: bool) -> Iterator[str]:
    yield from _family("grid_driver_state", "gauge", "1 for the state the node is in.")
    for state in State:
        yield _sample("grid_driver_state", {"state": state.value}, memory.state is state)
    ready = memory.state is State.READY and not memory.faults and current
    yield from _single("grid_driver_ready", "The driver is verified and Pods may use it.", ready)
    yield from _single("grid_driver_gate_closed", "Operands are kept off this node.", bool(memory.gated_at))
    yield from _single("grid_driver_licensed", "The vGPU has its licence.", memory.seen.get("licence") == "licensed")
    yield from _single("grid_driver_agent_faults", "Steps in a row in which the agent itself failed.", memory.faults)
    yield from _single("grid_driver_rolled_back", "The wanted build was given up.", bool(memory.rolled_back))
    yield from _single("grid_driver_last_check_timestamp_seconds", "When the host was last checked.", checked)
    yield from _family("grid_driver_info", "gauge", "Versions; always 1.")
    labels = {"wanted": wanted.version, "module_type": wanted.module_type} if wanted else {}
    seen = {"installed": memory.seen.get("installed", ""), "kernel": memory.seen.get("kernel", "")}
    yield _sample("grid_driver_info", {**labels, **seen, "reason": memory.reason}, 1)
    counted = (
        ("grid_driver_step_attempts_total", "Steps performed or started.", memory.attempts),
        ("grid_driver_step_failures_total", "Steps that failed.", memory.failed),
    )
    for name, text, counts in counted:
        yield from _family(name, "counter", text)
        for step, count in sorted(counts.items()):
            yield _sample(name, {"step": step}, count)
    yield from _family("grid_driver_state_seconds", "gauge", "Length of the last stay in a state.")
    for state, seconds in sorted(memory.durations.items()):
        yield _sample("grid_driver_state_seconds", {"state": state}, round(seconds, 3))


def _single(name: str, text: str, value: float) -> Iterator[str]:
    yield from _family(name, "gauge", text)
    yield _sample(name, {}, value)


def _family(name: str, kind: str, text: str) -> Iterator[str]:
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} {kind}"


def _sample(name: str, labels: Mapping[str, str], value: float) -> str:
    inner = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
    return f"{name}{{{inner}}} {float(value):.15g}" if inner else f"{name} {float(value):.15g}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", " ")


def serve(board: Board, host: str, port: int) -> ThreadingHTTPServer:
    """Serves on host:port in a thread of its own; port 0 picks one. Raises OSError where the port is taken."""

    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            code, text = board.answer(self.path.partition("?")[0])
            data = text.encode()
            self.send_response(code)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Probes come every few seconds and are no news."""

    server = ThreadingHTTPServer((host, port), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True, name="probes").start()
    return server
