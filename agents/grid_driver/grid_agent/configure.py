"""The driver's settings on the host: the content of their files, and writing them."""

from __future__ import annotations

from collections.abc import Mapping

from grid_agent.facts import HostError
from grid_agent.inspection import is_program
from grid_agent.shell import Shell
from grid_agent.wanted import Wanted

MODPROBE = "/etc/modprobe.d/physical-ai-grid-driver.conf"
GRIDD = "/etc/nvidia/gridd.conf"
GRIDD_TEMPLATE = "/etc/nvidia/gridd.conf.template"
GRIDD_UNIT = "nvidia-gridd.service"


def modprobe_text(wanted: Wanted) -> str:
    """modprobe.d: nouveau off, parameters on. It has to exist before the first load."""
    lines = ["# The GRID driver agent writes this file; changes are overwritten.", "blacklist nouveau"]
    lines.append("options nouveau modeset=0")
    for module, parameters in sorted(wanted.module_parameters.items()):
        pairs = " ".join(f"{name}={value}" for name, value in sorted(parameters.items()))
        if pairs:
            lines.append(f"options {module} {pairs}")
    return "\n".join(lines) + "\n"


def gridd_text(template: str, settings: Mapping[str, str]) -> str:
    """gridd.conf: NVIDIA's template with our settings. Its FeatureType would request another licence than Azure's."""
    ours = {*settings, "FeatureType"}
    kept = [line for line in template.splitlines() if line.split("=", 1)[0].strip() not in ours]
    return "\n".join([*kept, *(f"{name}={value}" for name, value in settings.items())]) + "\n"


def is_configured(shell: Shell, wanted: Wanted) -> bool:
    return shell.read(MODPROBE) == (modprobe_text(wanted) if wanted.present else None)


def is_gridd_configured(shell: Shell, wanted: Wanted) -> bool:
    return shell.read(GRIDD) == _gridd(shell, wanted)


def configure(shell: Shell, wanted: Wanted) -> None:
    """Write what differs, or remove it with the driver; gridd.conf where GRID is installed. Raises HostError."""
    try:
        if not wanted.present:
            shell.remove(MODPROBE)
            return
        if not is_configured(shell, wanted):
            shell.write(MODPROBE, modprobe_text(wanted))
        if is_program(shell.path("/usr/bin/nvidia-gridd")) and not is_gridd_configured(shell, wanted):
            shell.write(GRIDD, _gridd(shell, wanted))
            shell.run("systemctl", "try-restart", GRIDD_UNIT)
    except OSError as error:
        raise HostError(f"{error.filename or MODPROBE} can't be written: {error.strerror}") from error


def _gridd(shell: Shell, wanted: Wanted) -> str:
    return gridd_text(shell.read(GRIDD_TEMPLATE) or "", wanted.gridd)
