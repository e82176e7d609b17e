"""The page docs/reference/grid-agent-faults.md, from the tables that the tests run: `-m tests.host.document`."""

from __future__ import annotations

from pathlib import Path

from tests.host import (
    faults_cluster,
    faults_download,
    faults_driver,
    faults_host,
    faults_installer,
    faults_packages,
    faults_traces,
)

FILE = Path(__file__).resolve().parents[2] / "docs/reference/grid-agent-faults.md"
TABLES = {
    "Download and disk": faults_download.FAULTS,
    "Packages and network": faults_packages.FAULTS,
    "Host": faults_host.FAULTS,
    "Installer": faults_installer.FAULTS,
    "Drivers in place, licence, traces of other set-ups": (*faults_driver.FAULTS, *faults_traces.FAULTS),
    "API server": faults_cluster.FAULTS,
}
EVERY = [fault for table in TABLES.values() for fault in table]
ENDS = {"recovers": "recovers", "waits": "waits and continues", "stops": "stops for a person"}
HEAD = """\
# What the GRID agent does when something fails

Each row is a test: the real agent on a separate node (`tests/host`), with the fault injected. In all of them no file
was run whose checksum had not been verified, nothing was left in world-writable folders, modules of two
versions were never loaded together, and the node's condition `GridDriverReady` reported a closed gate.

*recovers*: ends with the driver of the settings verified and the gate open, without help.
*waits and continues*: reports what it waits for, and recovers as soon as the cause is removed.
*stops for a person*: reports what has to be done; after that, and with the annotation
`physical-ai/grid-driver-retry` or new settings, it recovers.
"""


def page() -> str:
    """The page as it has to be."""
    text = [HEAD]
    for title, faults in TABLES.items():
        text += [f"\n## {title}\n", "| fault | ends | what the agent does |", "|---|---|---|"]
        text += [f"| {fault.name} | {ENDS[fault.ends]} | {fault.outcome} |" for fault in faults]
        text[-1] += "\n"
    text.append("\nMade by `python -m tests.host.document` from `tests/host/faults_*.py`.\n")
    return "\n".join(text).replace("\n\n\n", "\n\n")


if __name__ == "__main__":
    FILE.write_text(page())
