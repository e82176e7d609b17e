"""Recording that takes the place of a cluster, its Prometheus and Azure, for commands that only read."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workbench.cli.console import err
from workbench.cli.exit_codes import BAD_INPUT

if TYPE_CHECKING:
    from physical_ai.settings import Loaded
    from physical_ai.telemetry.usage import Sample
    from workbench.cli.cluster_gates import ClusterTarget
    from workbench.cli.prometheus_signs import Signals
    from workbench.cli.requested_stack import RequestedStack
    from workbench.recordings.reading import Recording

From = Annotated[
    Path | None,
    typer.Option("--from", metavar="FILE", help="Read this recording (physai record) instead of a cluster."),
]


@dataclass(frozen=True)
class Recorded:
    """Recording from which a command reads all data that it would otherwise read from a cluster."""

    recording: Recording

    @property
    def name(self) -> str:
        return str(self.recording.file)

    @property
    def stack(self) -> str:
        return self.recording.stack

    @property
    def now(self) -> datetime.datetime:
        """The time of the recording, which counts as the present for everything read from it."""
        return datetime.datetime.fromisoformat(self.recording.recorded_at)

    def loaded(self, files: Sequence[Path] | None = None, assignments: Sequence[str] | None = None) -> Loaded:
        """The recorded settings. The settings of the checkout if the recording has no settings that can be loaded, or
        if the command line changes settings.

        Raises:
            SettingsError: the settings are invalid.
        """
        from physical_ai.settings import SettingsError, load_config
        from workbench.cli.loaded_stack import read_loaded

        recorded: Any = self.recording.only("settings", "settings")
        if recorded is not None and not files and not assignments:
            try:
                return load_config(self.stack, recorded)
            except SettingsError as problem:
                first = str(problem).splitlines()[0]
                err.print(f"{self.name}: its settings do not load here ({first}); those of the checkout count instead",
                          markup=False, style="yellow", soft_wrap=True)  # fmt: skip
        return read_loaded(self.stack, files, assignments)

    def requested(self, files: list[Path] | None, assignments: list[str] | None) -> RequestedStack:
        """The stack with the recorded settings, or with those of the checkout where `loaded` uses them.

        Raises:
            SettingsError: the settings are invalid.
        """
        from physical_ai.settings.layers.stack_file import PREFIX
        from workbench.cli.requested_stack import completed, read_stack

        loaded, raw = self.loaded(files, assignments), self.recording.only("settings", "settings")
        if raw is None or loaded.raw != raw:
            return read_stack(self.stack, files, assignments)
        return completed(loaded, {f"{PREFIX}{key}": value for key, value in raw.items()})

    def target(self, loaded: Loaded) -> ClusterTarget:
        """The recorded cluster, with the GPUs that its pools should offer."""
        from physical_ai.readiness import expected_pools
        from physical_ai.readiness.expected import deployed_pools
        from workbench.cli.cluster_gates import ClusterTarget
        from workbench.recordings.cluster import reader

        pools = self.recording.only("pools", "pools")
        expected = deployed_pools(pools, self.stack) if pools else expected_pools(loaded.settings)
        return ClusterTarget(self.name, reader(self.recording), expected)

    def azure_pools(self) -> Mapping[str, Mapping[str, Any]] | None:
        """Properties of the node pools in Azure, by name; None if the recording has nothing from Azure."""
        found: dict[str, Mapping[str, Any]] = {}
        for each in self.recording.of("azure"):
            if each["type"].lower().endswith("/agentpools"):
                found[each["id"].rpartition("/")[2]] = each["body"].get("properties") or {}
        return found or None

    @property
    def workflows(self) -> list[dict[str, Any]] | None:
        return self.recording.only("workflows", "workflows")

    def ask(self, queries: Mapping[str, str]) -> dict[str, list[Sample]]:
        """Recorded results of instant queries, by the queries' names.

        Raises:
            PrometheusFailed: a query was not recorded.
        """
        from physical_ai.telemetry.usage import Sample
        from workbench.cli.prometheus import PrometheusFailed

        known = {each["query"]: each["samples"] for each in self.recording.of("samples")}
        if not known:
            raise PrometheusFailed(f"{self.name}: {self._why_none()}")
        found: dict[str, list[Sample]] = {}
        for name, query in queries.items():
            if query not in known:
                raise PrometheusFailed(f"{self.name}: this query was not recorded: {query}")
            try:
                found[name] = [Sample(dict(each["labels"]), float(each["value"])) for each in known[query]]
            except (LookupError, TypeError, ValueError):
                raise PrometheusFailed(
                    f"{self.name}: samples of {query}: each has to have labels and a value"
                ) from None
        return found

    def _why_none(self) -> str:
        said = (str(each["reason"]) for each in self.recording.of("unread") if "metrics" in each["what"])
        return f"the recording has no metrics: {next(said, 'no Prometheus was named')}"

    def alerts(self) -> list[Mapping[str, Any]]:
        """Recorded alerts that were pending or firing, with the annotations of their rules."""
        return list(self.recording.only("alerts", "alerts") or ())

    def signals(self) -> Signals:
        """Alerts and Xids from the recorded answers of Prometheus."""
        from workbench.cli.prometheus_signs import Asked, signals_of

        firing = [each for each in self.alerts() if each.get("state") == "firing"]
        return signals_of(Asked(self.name, self.ask, lambda: firing, self.now.timestamp))

    def alert_documents(self) -> list[dict[str, Any]]:
        """The alerts as `physai alerts` lists them. Raises PrometheusFailed if none were recorded."""
        from workbench.cli.prometheus import PrometheusFailed

        if self.recording.only("alerts", "alerts") is None:
            raise PrometheusFailed(f"{self.name}: {self._why_none()}")
        documents = [_alert_document(each) for each in self.alerts()]
        rank = ("critical", "warning", "info", "")
        return sorted(
            documents, key=lambda each: (each["state"] != "firing", rank.index(each["severity"]), each["alert"])
        )

    def print_age(self) -> None:
        """Prints the name of the recording, its stack, and its age."""
        days = (datetime.datetime.now(datetime.UTC) - self.now).total_seconds() / 86400
        age = f"{days:.0f} days" if days >= 2 else f"{days * 24:.0f} hours" if days >= 1 / 12 else "new"
        if days < -1 / 24:
            age = "later than this machine's clock"
        of = "simulated " if self.recording.simulated else ""
        err.print(f"{self.name}: {of}{self.stack}, recorded at {self.recording.recorded_at} ({age})", markup=False,
                  style="dim", soft_wrap=True)  # fmt: skip


_FILES: list[Path] = []
"""Recordings that the present command has opened."""


def forget() -> None:
    """Forgets the recordings that an earlier command in this process has opened."""
    _FILES.clear()


def fault_in_recording(problem: Exception) -> str | None:
    """Message for an error that may come from the content of an opened recording. None if no recording is open, or if
    the error has another type.

    Such errors occur because the checks of a recording file do not know everything that a command relies on.
    """
    if not _FILES:
        return None
    from physical_ai.readiness.shapes import Malformed
    from workbench.recordings.reading import MAKE_ANOTHER

    if not isinstance(problem, (Malformed, LookupError, TypeError, ValueError, AttributeError)):
        return None

    said = f"{type(problem).__name__}: {' '.join(str(problem).split())[:200]}"
    names = " or ".join(map(str, dict.fromkeys(_FILES)))
    return f"{names}: has something that this command cannot read ({said}). {MAKE_ANOTHER}"


def _alert_document(given: Mapping[str, Any]) -> dict[str, Any]:
    labels: Mapping[str, str] = given.get("labels") or {}
    words: Mapping[str, str] = given.get("annotations") or {}
    severity = labels.get("severity", "")
    return {
        "alert": labels.get("alertname", ""),
        "state": given.get("state", ""),
        "severity": severity if severity in ("critical", "warning", "info") else "",
        "summary": words.get("summary", ""),
        "action": words.get("action", ""),
        "runbook": words.get("runbook_url", ""),
        "labels": {key: value for key, value in labels.items() if key != "alertname"},
        "fault": None,
        "modelSecondsAfterFault": None,
    }


def opened(file: Path, stack: str, **others: object) -> Recorded:
    """The recording in a file. Prints its age.

    Args:
        stack: Stack on the command line. The default stack means that none was named, and the recording's stack is
            used.
        others: Values of the options that name another source, by name. An option with a value is an error.

    Raises:
        typer.BadParameter: the command line names another source or another stack, too.
        typer.Exit: the file is not a recording.
    """
    from workbench.cli.options import DEFAULT_STACK
    from workbench.recordings.reading import BadRecording, read

    for name, value in others.items():
        if value:
            raise typer.BadParameter("the recording is the only source; leave this out", param_hint=f"--{name}")
    try:
        found = Recorded(read(file))
    except BadRecording as problem:
        err.print(str(problem), markup=False, style="red", soft_wrap=True)
        raise typer.Exit(BAD_INPUT) from None
    _FILES.append(file)
    if stack not in (DEFAULT_STACK, found.stack):
        raise typer.BadParameter(f"{file} is of {found.stack}, and not of {stack}", param_hint="STACK")
    found.print_age()
    return found
