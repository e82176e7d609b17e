"""Loading and unloading the driver, and the seed deployment's marks."""

from __future__ import annotations

from grid_agent.configure import GRIDD_UNIT
from grid_agent.facts import HostError
from grid_agent.inspection import DRIVER_ROOT, LEGACY_MARKER, MODULES, PREBAKED_MARKER, is_loaded, legacy_mount
from grid_agent.shell import Result, Shell

PERSISTENCED = "nvidia-persistenced.service"
HINT = "stop what uses it, or reboot the node"


def unload(shell: Shell, persistence: bool) -> None:
    """Stop the daemons, then remove the modules that are loaded, in order. Raises HostError on the first that stays.

    What was unloaded by then is loaded again: a driver that can't be unloaded has to keep working.
    """
    there = [module for module in (*MODULES, "nouveau") if is_loaded(shell, module)]
    for unit in (GRIDD_UNIT, PERSISTENCED):
        shell.run("systemctl", "stop", unit)
    if "nvidia" in there:
        shell.run("nvidia-smi", "-pm", "0")
    for module in there:
        if not is_loaded(shell, module):
            continue  # unloaded together with an earlier one
        result = shell.run("rmmod", module)  # modprobe -r needs the file, which may be missing
        if is_loaded(shell, module):
            _reload(shell, there, persistence)
            raise HostError(f"module {module} can't be unloaded: {result.complaint}; {HINT}")


def _reload(shell: Shell, modules: list[str], persistence: bool) -> None:
    for module in reversed(modules):
        if not is_loaded(shell, module):
            shell.run("modprobe", module)
    if is_loaded(shell, "nvidia"):
        if persistence:
            persist(shell)
        shell.run("systemctl", "start", GRIDD_UNIT)


def load(shell: Shell, gpus: int, persistence: bool) -> None:
    """Load the modules, make the device nodes, start the daemons. Raises HostError where a module does not load."""
    for module in ("nvidia", "nvidia-uvm", "nvidia-modeset"):
        _must(shell.run("modprobe", module), f"module {module} does not load")
    for number in range(max(1, gpus)):  # a driver without this helper makes the nodes at the first nvidia-smi
        shell.run("nvidia-modprobe", "-c", str(number), "-u", "-m")
    _make_uvm_node(shell)
    if persistence:
        persist(shell)
    shell.run("systemctl", "enable", GRIDD_UNIT)
    shell.run("systemctl", "restart", GRIDD_UNIT)


def _make_uvm_node(shell: Shell) -> None:
    """/dev/nvidia-uvm, where the driver came without nvidia-modprobe; nothing else makes it."""
    lines = (line.split() for line in (shell.read("/proc/devices") or "").splitlines())
    major = next((fields[0] for fields in lines if fields[1:] == ["nvidia-uvm"]), "")
    if major and not shell.path("/dev/nvidia-uvm").exists():
        shell.run("mknod", "--mode=666", "/dev/nvidia-uvm", "c", major, "0")


def persist(shell: Shell) -> None:
    """Persistence mode, by NVIDIA's daemon where there is a service for it; the installer brings none."""
    if not shell.run("systemctl", "restart", PERSISTENCED).ok:
        shell.run("nvidia-smi", "-pm", "1")


def clean(shell: Shell, ours: bool) -> None:
    """Remove marker and bind mount of the seed deployment; `ours`: also the marker of the image's own driver.

    A plain umount removes the mount: a recursive one could remove real mounts of the host too.
    AKS's marker makes a later provisioning run delete /usr/bin/nvidia-*, whatever installed them.
    """
    try:
        shell.remove(LEGACY_MARKER)
        if ours:
            shell.remove(PREBAKED_MARKER)
    except OSError as error:
        raise HostError(f"{error.filename} can't be removed: {error.strerror}") from error
    if legacy_mount(shell) in ("root", "deleted"):
        _must(shell.run("umount", DRIVER_ROOT), f"{DRIVER_ROOT} can't be unmounted")


def mark_legacy(shell: Shell) -> None:
    """What the seed deployment leaves: the host's root on /run/nvidia/driver, and then the marker."""
    try:
        shell.path(DRIVER_ROOT).mkdir(parents=True, exist_ok=True)
        if legacy_mount(shell) == "none":
            _must(shell.run("mount", "--bind", "/", DRIVER_ROOT), f"/ can't be mounted on {DRIVER_ROOT}")
        shell.write(LEGACY_MARKER, "")
    except OSError as error:
        raise HostError(f"{error.filename} can't be made: {error.strerror}") from error


def _must(result: Result, sentence: str) -> None:
    if not result.ok:
        raise HostError(f"{sentence}: {result.complaint}")
