"""First installs, reboots, removal, what others see, and the order of agent and validator."""

from __future__ import annotations

import contextlib
import os
import signal
import stat

import pytest

from tests.host.installers import NEW
from tests.host.lab import HOME, Lab
from tests.host.node import KERNEL, NEXT_KERNEL
from tests.host.operator import MARKER, READY

DEEP = pytest.mark.deep

# -- a first install


def test_clean_install_ends_with_the_gate_open_and_operands_that_saw_the_driver(lab: Lab) -> None:
    lab.begin()
    lab.wait("the operands run", lambda: lab.ready() and lab.around.settled())
    assert lab.serves(NEW)
    assert lab.node.read("/sys/module/nvidia_uvm/parameters/uvm_disable_hmm") == "Y"
    assert "Open Kernel Module" in (lab.node.read("/proc/driver/nvidia/version") or "")
    assert "IS_HOST_DRIVER=true" in (lab.node.read(READY) or "")
    assert lab.node.read(MARKER) is None
    dependencies = lab.node.path(f"/lib/modules/{KERNEL}/modules.dep")
    assert stat.S_IMODE(dependencies.stat().st_mode) == 0o644, "others could not find modules"
    assert lab.node.path("/var/lib/dkms/nvidia").is_dir()
    lab.check_host()


def test_no_dkms_means_none_and_downloads_take_the_nodes_proxy(lab: Lab) -> None:
    lab.mirror.files[f"http://packages.invalid/{lab.new.name}"] = lab.new.content
    lab.want(dkms=False, urls=[f"http://packages.invalid/{lab.new.name}"])
    lab.node.write("/etc/environment", f'PATH="/usr/bin"\nhttp_proxy="http://127.0.0.1:{lab.mirror.port}/"\n')
    lab.begin()
    lab.wait_ready()
    assert not lab.node.path("/var/lib/dkms/nvidia").exists()


def test_validator_that_looked_too_early_is_kicked(lab: Lab) -> None:
    lab.boot()
    lab.wait("the operands have looked in vain", lambda: len(lab.around.looks) >= 2)
    assert not any(passed for _, passed in lab.around.looks)
    lab.start()
    lab.wait("the operands run", lambda: lab.ready() and lab.around.settled())


def test_operands_that_linger_behind_a_closed_gate_are_deleted(lab: Lab) -> None:
    lab.boot()
    lab.around.lingering = True
    lab.start()
    lab.wait("the operands run", lambda: lab.ready() and lab.around.settled())


def test_a_verified_driver_is_left_alone(lab: Lab) -> None:
    lab.begin()
    lab.wait("the operands run", lambda: lab.ready() and lab.around.settled())
    before, restarts = lab.node.steps(), list(lab.around.restarts)
    lab.pods[-1].end(signal.SIGTERM)
    lab.start()
    lab.wait_ready()
    lab.pause(0.7, lab.ready, "verified and open")
    changed = [
        step
        for step in lab.node.steps()[len(before) :]
        if step.startswith(("installer", "rmmod", "systemd-run", "apt"))
    ]
    assert not changed, "a driver in service was touched"
    assert lab.around.restarts == restarts, "operands in service were restarted"


def test_container_runs_the_agent_on_the_host_and_ends_with_it(lab: Lab) -> None:
    """Through the container's first process, in a mount namespace of its own, with the API server's certificate."""
    lab.cluster.tls = True
    lab.boot()
    pod = lab.start("--listen", "127.0.0.1:9401", whole=True)
    lab.wait("the driver serves", lambda: lab.serves_new() and lab.around.settled())
    lab.wait("the probe says so", lambda: lab.get("/readyz")[0] == 200)
    assert pod.end(signal.SIGTERM) == 0
    assert lab.node.path(f"{HOME}/agent").is_dir(), "jobs run from the host's own copy"
    lab.check_host()


# -- reboots


def test_reboot_brings_the_driver_back_without_an_install(lab: Lab) -> None:
    lab.begin()
    lab.wait_ready()
    lab.reboot()
    lab.wait("ready again", lambda: lab.ready() and lab.around.settled() and lab.serves(NEW))
    assert len(lab.node.executed()) == 1


@pytest.mark.parametrize(
    "step",
    ["installer:half", "rmmod:nvidia", *(pytest.param(f"installer:{step}", marks=DEEP) for step in ("build", "load"))],
)
def test_power_fails_in_the_middle(served: Lab, step: str) -> None:
    served.node.hold(step)
    served.want(served.new)
    served.wait(f"it reaches {step}", lambda: served.node.held(step))
    served.node.release(step)
    served.reboot()
    served.wait("the new driver serves", lambda: served.serves_new() and served.around.settled())
    served.check_host()


def test_new_kernel_without_headers_stops_with_the_gate_closed(lab: Lab) -> None:
    lab.begin()
    lab.wait_ready()
    lab.node.hardware(repository="gcc\nmake")
    lab.reboot(kernel=NEXT_KERNEL)
    lab.wait("it stops", lab.stuck)
    assert NEXT_KERNEL in lab.status[2]
    assert lab.gated
    lab.node.hardware(repository=f"linux-headers-{NEXT_KERNEL}")
    lab.try_again()
    lab.wait("the driver serves", lambda: lab.serves_new() and lab.around.settled())


@pytest.mark.parametrize("step", ["installer:half", pytest.param("installer:build", marks=DEEP)])
def test_job_that_is_killed_is_cleaned_up_and_done_again(lab: Lab, step: str) -> None:
    """By the kernel for lack of memory, or by a user: no process is left to write a result."""
    lab.boot()
    lab.node.hold(step)
    lab.start()
    lab.wait(f"it reaches {step}", lambda: lab.node.held(step))
    for pid in lab.node.up.processes("UNIT=physical-ai-grid-driver.service"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    lab.node.run("rm", "-rf", "/run/fakes/units/physical-ai-grid-driver.service")
    lab.node.release(step)
    lab.wait("the driver serves", lambda: lab.serves_new() and lab.around.settled())
    assert len(lab.node.executed()) == 2
    lab.check_host()


# -- the seed's way, and the end


def test_seed_profile_makes_marker_and_mount_after_success_and_takes_them_back_before_a_change(lab: Lab) -> None:
    lab.want(lab.old, legacyValidationMarkers=True)
    lab.boot()
    lab.node.hold("installer:build")
    lab.start()
    lab.wait("the build runs", lambda: lab.node.held("installer:build"))
    assert lab.node.read(MARKER) is None
    lab.node.release("installer:build")
    lab.wait_ready()
    lab.wait("the marker is there", lambda: lab.node.read(MARKER) is not None)
    assert lab.node.path("/run/nvidia/driver/usr").is_dir()
    lab.node.hold("installer:build")
    lab.want(lab.new, legacyValidationMarkers=True)
    lab.wait("the new build runs", lambda: lab.node.held("installer:build"))
    assert lab.node.read(MARKER) is None
    assert " /run/nvidia/driver " not in lab.node.run("cat", "/proc/self/mountinfo").stdout
    lab.node.release("installer:build")
    lab.wait("the new driver serves", lab.serves_new)
    lab.wait("the marker is there again", lambda: lab.node.read(MARKER) is not None)


def test_driver_is_removed_when_it_is_no_longer_wanted(served: Lab) -> None:
    served.want(served.old, present=False)
    served.wait("the driver is gone", lambda: served.memory.get("state") == "removed")
    assert not [name for name in served.node.loaded() if name.startswith("nvidia")]
    assert served.node.read("/usr/bin/nvidia-smi") is None
    assert served.node.read("/etc/modprobe.d/physical-ai-grid-driver.conf") is None
    served.check_host()


# -- what others see


def test_readiness_and_metrics_tell_the_truth(lab: Lab) -> None:
    lab.boot()
    lab.node.hold("installer:build")
    lab.start("--listen", "127.0.0.1:9401")
    lab.wait("the build runs", lambda: lab.node.held("installer:build"))
    code, text = lab.get("/readyz")
    assert code == 503
    assert "install" in text.lower()
    assert lab.get("/healthz")[0] == 200
    assert "grid_driver_ready 0" in lab.get("/metrics")[1]
    lab.node.release("installer:build")
    lab.wait_ready()
    lab.wait("the probe says so", lambda: lab.get("/readyz")[0] == 200)
    metrics = lab.get("/metrics")[1]
    assert "grid_driver_ready 1" in metrics
    assert "grid_driver_licensed 1" in metrics
    assert f'installed="{NEW}"' in metrics


def test_events_tell_the_way_in_sentences(lab: Lab) -> None:
    lab.begin()
    lab.wait_ready()
    reported = [event.get("message") or event.get("note") or "" for event in lab.cluster.events]
    assert len(reported) >= 3
    assert all(len(text.split()) > 3 for text in reported), reported
    assert len(reported) < 30, "events are a trickle, not a flood"


def test_kubelets_conditions_survive(lab: Lab) -> None:
    lab.begin()
    lab.wait_ready()
    assert lab.cluster.condition("Ready") is not None


def test_logs_of_jobs_are_kept_and_private(lab: Lab) -> None:
    lab.begin()
    lab.wait_ready()
    logs = list(lab.node.path(f"{HOME}/logs").iterdir())
    assert any("NVIDIA driver" in log.read_text() or "nvidia-installer" in log.read_text() for log in logs)
