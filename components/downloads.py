"""Charts and provider plugins that a deployment downloads. The deployment compares their checksums before it
runs or installs them, because a changed program could use the deployment's login to Azure.

A simulation downloads neither: the simulator has models of the charts, and providers of its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from physical_ai.catalog.plugins import CHECKSUMS, PROGRAMS, RECORD, archive_name, pinned, recorded
from physical_ai.repository import PROJECT

INSTALL = (
    f"Remove it, and run {PROGRAMS} install FOLDER. If it is the publisher's "
    "plugin, find out why it was published again."
)
_PULL_SECONDS = 3600
"""Time limit of a pull in seconds. The first pull on a machine is slow because it may have to build helm."""


class PullFailed(Exception):
    """Raised if `physai charts pull` fails, for example because a chart is not the pinned one. The text contains the
    command's error output.
    """


def pulled_charts(stack: str) -> list[tuple[str, str]]:
    """Pulls the charts of the stack `stack` with `physai charts pull`. Returns title and checksum of each chart whose
    checksum was recorded by this pull.

    The command runs in a process of its own, since a stack's program contains neither helm nor the code that finds it.
    """
    words = [_physai(stack), "charts", "pull", stack, "--json"]
    try:
        done = subprocess.run(
            words,
            cwd=PROJECT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PULL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise PullFailed(f"`physai charts pull {stack}`: {problem}") from None
    if done.returncode:
        raise PullFailed(f"`physai charts pull {stack}` failed:\n{done.stderr.strip() or done.stdout.strip()}")
    try:
        rows: list[dict[str, Any]] = json.loads(done.stdout)["charts"]
        return [(f"{row['name']} {row['version']}", row["sha256"]) for row in rows if row["outcome"] == "recorded"]
    except (ValueError, KeyError, TypeError):
        raise PullFailed(f"`physai charts pull {stack}` printed no list of charts:\n{done.stdout[:500]}") from None


def _physai(stack: str) -> str:
    """Path of the command `physai` that is installed beside the program. Another one on PATH may be of another version,
    or another project. Raises PullFailed if there is none.
    """
    folder = sysconfig.get_path("scripts")
    if (found := shutil.which("physai", path=folder)) is None:
        raise PullFailed(
            f"The charts of {stack} are pulled by the command physai, which is not in {folder}. Install physai there, "
            f"or run `physai charts pull {stack}` before."
        )
    return found


def plugin_problems() -> list[tuple[str, str, str]]:
    """Problems of the provider plugins on this machine, each as the plugin's name, the problem and its fix. A plugin
    has a problem if its checksum is not recorded, if it is not installed, or if its program differs from the recorded
    one.
    """
    return list(_problems(recorded(CHECKSUMS), pinned(), os.environ))


def _problems(
    rows: Mapping[str, Mapping[str, Any]], versions: Mapping[str, str], environment: Mapping[str, str]
) -> Iterator[tuple[str, str, str]]:
    for name, pin in versions.items():
        archive = archive_name(name, pin)
        expected = rows.get(archive, {}).get("program")
        programs = list(installed_plugins(name, pin, environment))
        if expected is None:
            yield archive, "No checksum of its plugin is recorded, and Pulumi compares its downloads with none.", RECORD
        elif not programs:
            yield archive, f"The plugin {name} {pin} is not installed.", INSTALL
        for program in programs if expected else ():
            if (found := _sha256(program)) != expected:
                yield archive, f"{program} has the sha256 {found}, and {expected} is recorded.", INSTALL


def installed_plugins(name: str, pin: str, environment: Mapping[str, str]) -> Iterator[Path]:
    """Programs on this machine that the engine may run as the plugin `name`: first the program on PATH, which takes
    precedence, then the installed program of version `pin`.
    """
    program = f"pulumi-resource-{name}"
    if ambient := shutil.which(program, path=environment.get("PATH", "")):
        yield Path(ambient)
    home = Path(environment.get("PULUMI_HOME") or "~/.pulumi").expanduser()
    installed = home / "plugins" / f"resource-{name}-v{pin}" / program
    if installed.is_file():
        yield installed


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
