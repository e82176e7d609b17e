"""Prometheus and Alertmanager of a simulation: real processes on loopback, with their data in the
simulation's folder.
"""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import httpx
import yaml

from simulator import processes
from simulator.clock import seconds_per_model_minute
from simulator.cluster.objects import Json
from simulator.errors import SimulationError
from simulator.metrics import alertmanager, scraping, speed
from simulator.metrics.collector import Collected
from simulator.ports import kept_port
from simulator.tools import Toolbox

FOLDER = "telemetry"
PROMETHEUS, ALERTMANAGER = "prometheus", "alertmanager"
START_SECONDS = 60.0
POLL_SECONDS = 0.1
MODEL_SECONDS = 60.0
"""Simulated seconds between two scrapes, and between two evaluations of rules: one minute."""
LEAST_INTERVAL = 0.5
"""Minimum number of real seconds between two scrapes."""
LOOKBACK, LEAST_LOOKBACK = 300.0, 10.0
"""Seconds for which a series keeps its last value after its last scrape. `LOOKBACK`: simulated seconds, five minutes as
in Prometheus. `LEAST_LOOKBACK`: minimum in real seconds, because scrapes are late on a busy machine.
"""
RETENTION = "1d"
MEMORY = {PROMETHEUS: "320MiB", ALERTMANAGER: "60MiB"}
"""Soft memory limits (GOMEMLIMIT) of Prometheus and Alertmanager. With 1,000 nodes and only 220 MiB, Prometheus spends
most of its time on garbage collection.
"""


@dataclass(frozen=True)
class Clock:
    """Speed of the simulation, and the scrape interval for it. `factor`: simulated seconds that pass in one real
    second.
    """

    factor: float
    interval: float
    """Real seconds between two scrapes, and between two evaluations of rules."""


def clock() -> Clock:
    """The clock according to the environment variables of this process."""
    minute = seconds_per_model_minute()
    return Clock(60 / minute, max(minute * MODEL_SECONDS / 60, LEAST_INTERVAL))


@dataclass(frozen=True)
class Ports:
    """Loopback ports of Prometheus and Alertmanager."""

    prometheus: int
    alertmanager: int


class NotRunning(SimulationError):
    """Error if the simulation has no running Prometheus."""


class Telemetry:
    """Prometheus and Alertmanager in `<simulation>/telemetry`."""

    def __init__(self, simulation: Path) -> None:
        self.folder = simulation / FOLDER

    @property
    def prometheus(self) -> str:
        return f"http://127.0.0.1:{self._ports().prometheus}"

    @property
    def alertmanager(self) -> str:
        return f"http://127.0.0.1:{self._ports().alertmanager}"

    def clock(self) -> Clock:
        """The clock with which Prometheus and Alertmanager were started."""
        return Clock(**json.loads((self.folder / "clock.json").read_text()))

    def is_running(self) -> bool:
        return self.folder.exists() and {PROMETHEUS, ALERTMANAGER} <= set(processes.running(self.folder))

    def demand(self) -> None:
        """Checks that Prometheus is running; raises NotRunning if not."""
        if not self.is_running():
            raise NotRunning(
                "the simulation has no Prometheus; `physai up STACK --telemetry` starts one, and Alertmanager"
            )

    def start(self, tools: Toolbox, given: Collected, exporters: str) -> None:
        """Starts Prometheus and Alertmanager, or makes the running ones load a new configuration.

        Args:
            given: Scrape jobs and rules.
            exporters: Address of the exporters.

        Raises:
            SimulationError: one of the two did not start.
        """
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        now = clock()
        (self.folder / "clock.json").write_text(json.dumps({"factor": now.factor, "interval": now.interval}))
        if not self.is_running():
            processes.stop(self.folder)
            self._choose_ports()
        ports = self._ports()
        config = scraping.configuration(given, exporters, f"127.0.0.1:{ports.alertmanager}", now.interval)
        self._write("prometheus.yml", config)
        self._write("rules.yml", speed.rules(given.rules, now.factor, now.interval))
        notified = alertmanager.configuration(given.alertmanager, now.factor, now.interval, exporters)
        self._write("alertmanager.yml", notified)
        if self.is_running():
            self._reload()
        else:
            self._start_processes(tools, ports)
        self._wait()

    def stop(self) -> None:
        """Ends Prometheus and Alertmanager; their data remains."""
        if self.folder.exists():
            processes.stop(self.folder)

    def wipe(self) -> None:
        """Ends Prometheus and Alertmanager and removes their data."""
        if self.folder.exists():
            processes.kill(self.folder)
            shutil.rmtree(self.folder, ignore_errors=True)

    def _write(self, file: str, document: Json) -> None:
        (self.folder / file).write_text(yaml.safe_dump(document, sort_keys=False, width=1000))

    def _start_processes(self, tools: Toolbox, ports: Ports) -> None:
        def start(name: str, *arguments: str) -> None:
            memory = {"GOGC": "60", "GOMEMLIMIT": MEMORY[name]}
            processes.start(name, [tools.path(name), *arguments], self.folder, memory)

        start(
            ALERTMANAGER,
            "--config.file=alertmanager.yml",
            "--storage.path=alertmanager",
            "--cluster.listen-address=",
            f"--web.listen-address=127.0.0.1:{ports.alertmanager}",
        )
        start(
            PROMETHEUS,
            "--config.file=prometheus.yml",
            "--storage.tsdb.path=prometheus",
            f"--storage.tsdb.retention.time={RETENTION}",
            f"--web.listen-address=127.0.0.1:{ports.prometheus}",
            "--web.enable-lifecycle",
            f"--query.lookback-delta={scraping.duration(max(LOOKBACK / clock().factor, LEAST_LOOKBACK))}",
            # Interval at which an alert is sent again; Alertmanager resolves an alert that is not.
            f"--rules.alert.resend-delay={scraping.duration(clock().interval)}",
        )

    def _reload(self) -> None:
        for url in (self.prometheus, self.alertmanager):
            answer = httpx.post(f"{url}/-/reload", timeout=START_SECONDS, trust_env=False)
            if answer.is_error:
                raise SimulationError(f"Prometheus refused its configuration: {answer.text.strip()}")

    def _wait(self) -> None:
        end = time.monotonic() + START_SECONDS
        with httpx.Client(timeout=5, trust_env=False) as client:
            while not all(_is_ready(client, url) for url in (self.prometheus, self.alertmanager)):
                if not self.is_running() or time.monotonic() > end:
                    raise SimulationError(f"Prometheus or Alertmanager did not start; the logs are in {self.folder}")
                time.sleep(POLL_SECONDS)

    def _ports(self) -> Ports:
        file = self.folder / "ports.json"
        if not file.exists():
            self.demand()
        return Ports(**json.loads(file.read_text()))

    def _choose_ports(self) -> None:
        prometheus = alertmanager = kept_port()
        while alertmanager == prometheus:
            alertmanager = kept_port()
        ports = {PROMETHEUS: prometheus, ALERTMANAGER: alertmanager}
        (self.folder / "ports.json").write_text(json.dumps(ports))


def _is_ready(client: httpx.Client, url: str) -> bool:
    try:
        return client.get(f"{url}/-/ready").is_success
    except httpx.HTTPError:
        return False
