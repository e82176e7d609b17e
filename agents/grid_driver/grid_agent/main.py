"""The agent's process: options, lock, loop, signals. README.md lists options and exit codes."""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from grid_agent import metrics
from grid_agent.api import Api
from grid_agent.facts import NAMESPACE, ClusterError
from grid_agent.host import RealHost
from grid_agent.machine import advance, failed
from grid_agent.memory import Memory
from grid_agent.report.plain import LONGEST_SENTENCE, plain
from grid_agent.steps import State
from grid_agent.store import Locked, Store, UnsafeFolder
from grid_agent.wanted import Wanted, WantedError, for_pool, wanted_from

STOPPED, USAGE, LOCKED, UNSAFE, NOT_ROOT, TOO_LATE = 0, 2, 3, 4, 5, 6
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
QUIET = (State.READY, State.REMOVED, State.BLOCKED)
"""States in which the host is checked rarely."""


class Unusable(Exception):
    """Options or environment can't be used."""


def options_from(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="grid_agent", description="Keeps the GRID driver of this node.")
    parser.add_argument("--wanted", required=True, type=Path, help="settings as JSON")
    parser.add_argument("--root", default="/", help="the host's root")
    parser.add_argument("--service-account", default=Path(ACCOUNT), type=Path)
    parser.add_argument("--api", default="", help="URL of the API server")
    parser.add_argument("--listen", default="0.0.0.0:9401", help="probes and metrics; empty: none")
    parser.add_argument("--once", action="store_true", help="one step only")
    parser.add_argument("--until", default="", help="end in one of these states")
    parser.add_argument("--timeout", default=0.0, type=float, help="with --until: give up after so many seconds")
    return parser.parse_args(arguments)


def read_wanted(path: Path, pool: Callable[[], str]) -> Wanted:
    """What is wanted of this node; `pool` names its node pool, where pools differ. Raises Unusable."""
    try:
        return wanted_from(for_pool(json.loads(path.read_text()), pool))
    except OSError as error:
        raise Unusable(f"{path} can't be read: {error.strerror}") from error
    except ClusterError as error:
        raise Unusable(f"which node pool this node belongs to is not known: {error}") from error
    except WantedError as error:
        raise Unusable(str(error)) from error
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise Unusable(f"wanted.json ({path}) is not what the agent reads: {error}") from error


def api_from(options: argparse.Namespace) -> Api:
    """Raises Unusable."""
    node = os.environ.get("NODE_NAME", "")
    if not node:
        raise Unusable("NODE_NAME is not set")
    url = str(options.api)
    if not url:
        host = os.environ.get("KUBERNETES_SERVICE_HOST", "")
        if not host:
            raise Unusable("KUBERNETES_SERVICE_HOST is not set, and --api is not given")
        bracketed = f"[{host}]" if ":" in host else host
        url = f"https://{bracketed}:{os.environ.get('KUBERNETES_SERVICE_PORT') or '443'}"
    return Api(url, options.service_account, node, os.environ.get("POD_NAMESPACE") or NAMESPACE)


class Clock:
    """Seconds since the epoch as they were when the process began, going on evenly when the host's clock is set."""

    def __init__(self) -> None:
        self._began = time.time() - time.monotonic()

    def now(self) -> float:
        return self._began + time.monotonic()

    @property
    def skew(self) -> float:
        """How far the host's clock is ahead."""
        return time.time() - self.now()


@dataclass
class Agent:
    """What the loop needs."""

    options: argparse.Namespace
    host: RealHost
    store: Store
    api: Api
    board: metrics.Board
    wanted: Wanted
    stop: threading.Event
    clock: Clock = field(default_factory=Clock)

    def run(self) -> int:
        until = {State(word) for word in str(self.options.until).split(",") if word}
        deadline = time.monotonic() + float(self.options.timeout) if self.options.timeout else None
        memory = self.store.load()
        while True:
            memory = self.step(memory)
            if self.options.once or self.stop.is_set() or memory.state in until:
                return STOPPED
            if deadline is not None and time.monotonic() > deadline:
                logging.error("still %s after --timeout: %s", memory.state.value, memory.sentence)
                return TOO_LATE
            if self.stop.wait(pause(memory, self.wanted)):
                return STOPPED

    def step(self, memory: Memory) -> Memory:
        """One step. Unexpected errors are reported, and the step is repeated: without an agent the gate stays as is."""
        try:
            self.wanted = read_wanted(Path(self.options.wanted), self.api.pool)
        except Unusable as error:
            logging.error("%s; going on with the settings from before", error)
        timings = self.wanted.timings
        self.api.seconds, self.api.skew = timings.api_seconds, self.clock.skew
        self.host.smi_age = timings.check_seconds if memory.is_done else 0.0
        before, faults, now = (memory.state, memory.reason), memory.faults, self.clock.now()
        try:
            if faults:
                self.store.save(memory)  # where that is what failed, nothing is done or reported before it works
            memory = advance(memory, self.host, self.api, self.wanted, now, remember=self.store.save)
            self.store.save(memory)
            self.store.tidy()
        except OSError as error:
            text = f"{error.filename or 'the host'}: {error.strerror or error}"
            logging.error("%s", text)
            memory = failed(replace(memory, faults=faults), self.api, "HostFault", text, now)
        except Exception as error:
            logging.exception("a step failed unexpectedly")
            text = f"the agent failed unexpectedly ({type(error).__name__}: {error}); see its log"
            memory = failed(replace(memory, faults=faults), self.api, "AgentFault", text, now)
        if before != (memory.state, memory.reason):
            logging.info("%s (%s): %s", memory.state.value, memory.reason, memory.sentence)
        self.board.put(memory, self.wanted)
        return memory


def pause(memory: Memory, wanted: Wanted) -> float:
    """Seconds to the next step."""
    quiet = memory.state in QUIET and not memory.faults
    return wanted.timings.watch_seconds if quiet else wanted.timings.poll_seconds


def cannot_start(error: Exception, api: Api | None) -> int:
    """The exit code; the reason is in the log, and in the node's condition where the API server answers."""
    text = f"{error.filename or 'the host'}: {error.strerror}" if isinstance(error, OSError) else str(error)
    logging.error("%s", text)
    if isinstance(error, Locked):
        return LOCKED  # the agent that holds it reports for itself
    unusable = isinstance(error, Unusable)
    if api:
        reason = "SettingsUnusable" if unusable else "HostFault"
        failed(Memory(), api, reason, f"the agent can't start: {text}", time.time())
    return USAGE if unusable else UNSAFE


class OneLine(logging.Formatter):
    """Of what other programs and the API server say, no character moves a cursor or begins a line of its own."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return plain(super().formatMessage(record), LONGEST_SENTENCE)


def main(arguments: Sequence[str]) -> int:
    handler = logging.StreamHandler()
    handler.setFormatter(OneLine("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    options = options_from(arguments)
    if os.geteuid() != 0:
        logging.error("the agent has to be root")
        return NOT_ROOT
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: stop.set())
    package = Path(__file__).parent
    store, api = Store(options.root), None
    try:
        api = api_from(options)
        wanted = read_wanted(options.wanted, api.pool)
        store.prepare()
        store.lock()
        host = RealHost(options.root, package, package.parent / "host")
    except (Unusable, UnsafeFolder, Locked, OSError) as error:
        return cannot_start(error, api)
    board = metrics.Board()
    if options.listen:
        address, _, port = str(options.listen).rpartition(":")
        server = metrics.serve(board, address, int(port))
        logging.info("probes and metrics on port %d", server.server_address[1])
    return Agent(options, host, store, api, board, wanted, stop).run()
