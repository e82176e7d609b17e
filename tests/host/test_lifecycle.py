"""First installs, reboots, removal, what others see, and the order of agent and validator."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
from collections.abc import Iterator

import pytest

from tests.host.harness import HOME, Harness
from tests.host.installers import NEW
from tests.host.node import KERNEL, NEXT_KERNEL
from tests.host.operator import MARKER, READY

DEEP = pytest.mark.deep

# -- a first install


@pytest.fixture(scope="module")
def installed() -> Iterator[Harness]:
    """A node after a clean install, for tests that only look at it."""
    made = Harness()
    try:
        made.begin()
        made.wait("the operands run", lambda: made.ready() and made.operator.settled())
        yield made
    finally:
        made.close()


def test_clean_install_ends_with_the_gate_open_and_operands_that_saw_the_driver(installed: Harness) -> None:
    assert installed.serves(NEW)
    assert installed.node.read("/sys/module/nvidia_uvm/parameters/uvm_disable_hmm") == "Y"
    assert "Open Kernel Module" in (installed.node.read("/proc/driver/nvidia/version") or "")
    assert "IS_HOST_DRIVER=true" in (installed.node.read(READY) or "")
    assert installed.node.read(MARKER) is None
    dependencies = installed.node.path(f"/lib/modules/{KERNEL}/modules.dep")
    assert stat.S_IMODE(dependencies.stat().st_mode) == 0o644, "others could not find modules"
    assert installed.node.path("/var/lib/dkms/nvidia").is_dir()
    installed.check_host()


def test_events_describe_each_state_in_sentences(installed: Harness) -> None:
    reported = [event.get("message") or event.get("note") or "" for event in installed.cluster.events]
    assert len(reported) >= 3
    assert all(len(text.split()) > 3 for text in reported), reported
    assert len(reported) < 30, "events are a trickle, not a flood"


def test_conditions_of_the_kubelet_are_kept(installed: Harness) -> None:
    assert installed.cluster.condition("Ready") is not None


def test_logs_of_jobs_are_kept_and_private(installed: Harness) -> None:
    logs = list(installed.node.path(f"{HOME}/logs").iterdir())
    assert any("NVIDIA driver" in log.read_text() or "nvidia-installer" in log.read_text() for log in logs)


def test_no_dkms_means_none_and_downloads_take_the_nodes_proxy(harness: Harness) -> None:
    harness.mirror.files[f"http://packages.invalid/{harness.new.name}"] = harness.new.content
    harness.want(dkms=False, urls=[f"http://packages.invalid/{harness.new.name}"])
    harness.node.write("/etc/environment", f'PATH="/usr/bin"\nhttp_proxy="http://127.0.0.1:{harness.mirror.port}/"\n')
    harness.begin()
    harness.wait_ready()
    assert not harness.node.path("/var/lib/dkms/nvidia").exists()


def test_validator_that_looked_too_early_is_restarted(harness: Harness) -> None:
    harness.boot()
    harness.wait("the operands have looked in vain", lambda: len(harness.operator.looks) >= 2)
    assert not any(passed for _, passed in harness.operator.looks)
    harness.start()
    harness.wait("the operands run", lambda: harness.ready() and harness.operator.settled())


@pytest.mark.deep  # in `make test`: the validator that looked too early, above
def test_operands_that_linger_behind_a_closed_gate_are_deleted(harness: Harness) -> None:
    harness.boot()
    harness.operator.lingering = True
    harness.start()
    harness.wait("the operands run", lambda: harness.ready() and harness.operator.settled())


def test_a_verified_driver_is_left_alone(harness: Harness) -> None:
    harness.begin()
    harness.wait("the operands run", lambda: harness.ready() and harness.operator.settled())
    before, restarts = harness.node.steps(), list(harness.operator.restarts)
    harness.pods[-1].end(signal.SIGTERM)
    harness.start()
    harness.wait_ready()
    harness.pause(0.7, harness.ready, "verified and open")
    changed = [
        step
        for step in harness.node.steps()[len(before) :]
        if step.startswith(("installer", "rmmod", "systemd-run", "apt"))
    ]
    assert not changed, "a driver in service was touched"
    assert harness.operator.restarts == restarts, "operands in service were restarted"


def test_container_runs_the_agent_on_the_host_and_ends_with_it(harness: Harness) -> None:
    """Through the container's first process, in a mount namespace of its own, with the API server's certificate."""
    harness.cluster.tls = True
    harness.boot()
    pod = harness.start("--listen", "127.0.0.1:9401", in_container=True)
    harness.wait("the driver serves", lambda: harness.serves_new() and harness.operator.settled())
    harness.wait("the probe says so", lambda: harness.get("/readyz")[0] == 200)
    assert pod.end(signal.SIGTERM) == 0
    assert harness.node.path(f"{HOME}/agent").is_dir(), "jobs run from the host's own copy"
    harness.check_host()


# -- reboots


def test_reboot_brings_the_driver_back_without_an_install(harness: Harness) -> None:
    harness.begin()
    harness.wait_ready()
    harness.reboot()
    harness.wait("ready again", lambda: harness.ready() and harness.operator.settled() and harness.serves(NEW))
    assert len(harness.node.executed()) == 1


@pytest.mark.parametrize(
    "step",
    [
        "installer:half",
        *(pytest.param(step, marks=DEEP) for step in ("rmmod:nvidia", "installer:build", "installer:load")),
    ],
)
def test_power_fails_in_the_middle(served: Harness, step: str) -> None:
    served.node.hold(step)
    served.want(served.new)
    served.wait(f"it reaches {step}", lambda: served.node.held(step))
    served.node.release(step)
    served.reboot()
    served.wait("the new driver serves", lambda: served.serves_new() and served.operator.settled())
    served.check_host()


def test_new_kernel_without_headers_stops_with_the_gate_closed(harness: Harness) -> None:
    harness.begin()
    harness.wait_ready()
    harness.node.hardware(repository="gcc\nmake")
    harness.reboot(kernel=NEXT_KERNEL)
    harness.wait("it stops", harness.stuck)
    assert NEXT_KERNEL in harness.status[2]
    assert harness.gated
    harness.node.hardware(repository=f"linux-headers-{NEXT_KERNEL}")
    harness.try_again()
    harness.wait("the driver serves", lambda: harness.serves_new() and harness.operator.settled())


@pytest.mark.deep  # in `make test`: the power failure above, and the killed agents of test_kills.py
@pytest.mark.parametrize("step", ["installer:half", "installer:build"])
def test_job_that_is_killed_is_cleaned_up_and_done_again(harness: Harness, step: str) -> None:
    """By the kernel for lack of memory, or by a user: no process is left to write a result."""
    harness.boot()
    harness.node.hold(step)
    harness.start()
    harness.wait(f"it reaches {step}", lambda: harness.node.held(step))
    for pid in harness.node.up.processes("UNIT=physical-ai-grid-driver.service"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    harness.node.run("rm", "-rf", "/run/fakes/units/physical-ai-grid-driver.service")
    harness.node.release(step)
    harness.wait("the driver serves", lambda: harness.serves_new() and harness.operator.settled())
    assert len(harness.node.executed()) == 2
    harness.check_host()


# -- the seed's way, and the end


@pytest.mark.deep  # in `make test`: the marks at each step in tests/unit/agents/test_grid_agent_service.py
def test_seed_profile_makes_marker_and_mount_after_success_and_removes_them_before_a_change(
    harness: Harness,
) -> None:
    harness.want(harness.old, legacyValidationMarkers=True)
    harness.boot()
    harness.node.hold("installer:build")
    harness.start()
    harness.wait("the build runs", lambda: harness.node.held("installer:build"))
    assert harness.node.read(MARKER) is None
    harness.node.release("installer:build")
    harness.wait_ready()
    harness.wait("the marker is there", lambda: harness.node.read(MARKER) is not None)
    assert harness.node.path("/run/nvidia/driver/usr").is_dir()
    harness.node.hold("installer:build")
    harness.want(harness.new, legacyValidationMarkers=True)
    harness.wait("the new build runs", lambda: harness.node.held("installer:build"))
    assert harness.node.read(MARKER) is None
    assert " /run/nvidia/driver " not in harness.node.run("cat", "/proc/self/mountinfo").stdout
    harness.node.release("installer:build")
    harness.wait("the new driver serves", harness.serves_new)
    harness.wait("the marker is there again", lambda: harness.node.read(MARKER) is not None)


def test_driver_is_removed_when_it_is_no_longer_wanted(served: Harness) -> None:
    served.want(served.old, present=False)
    served.wait("the driver is gone", lambda: served.memory.get("state") == "removed")
    assert not [name for name in served.node.loaded() if name.startswith("nvidia")]
    assert served.node.read("/usr/bin/nvidia-smi") is None
    assert served.node.read("/etc/modprobe.d/physical-ai-grid-driver.conf") is None
    served.check_host()


# -- what others see


def test_readiness_and_metrics_report_the_state(harness: Harness) -> None:
    harness.boot()
    harness.node.hold("installer:build")
    harness.start("--listen", "127.0.0.1:9401")
    harness.wait("the build runs", lambda: harness.node.held("installer:build"))
    code, text = harness.get("/readyz")
    assert code == 503
    assert "install" in text.lower()
    assert harness.get("/healthz")[0] == 200
    assert "grid_driver_ready 0" in harness.get("/metrics")[1]
    harness.node.release("installer:build")
    harness.wait_ready()
    harness.wait("the probe says so", lambda: harness.get("/readyz")[0] == 200)
    metrics = harness.get("/metrics")[1]
    assert "grid_driver_ready 1" in metrics
    assert "grid_driver_licensed 1" in metrics
    assert f'installed="{NEW}"' in metrics
