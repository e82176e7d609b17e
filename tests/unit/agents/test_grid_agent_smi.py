"""What the GRID agent reads from nvidia-smi."""

from __future__ import annotations

import pytest

from grid_agent.shell import NOT_FOUND, TIMED_OUT, Result
from grid_agent.smi import smi_from
from tests.support.grid_agent_fake import NEW

QUERY = """
==============NVSMI LOG==============

Driver Version                            : 595.91.07
CUDA Version                              : 13.1

Attached GPUs                             : 1
GPU 00000001:00:00.0
    Product Name                          : NVIDIA RTX Pro 6000 Blackwell DC-4-96Q
    MIG Mode
        Current                           : Enabled
        Pending                           : Enabled
    vGPU Software Licensed Product
        Product Name                      : NVIDIA RTX Virtual Workstation
        License Status                    : Licensed (Expiry: N/A)
"""

LISTING = """GPU 0: NVIDIA RTX Pro 6000 Blackwell DC-4-96Q (UUID: GPU-1)
  MIG 4g.96gb     Device  0: (UUID: MIG-1)
"""

MISMATCH = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.105\n"


def test_nvidia_smi_reports_version_licence_and_mig_device() -> None:
    smi = smi_from(Result(0, QUERY), Result(0, LISTING))
    assert (smi.ran, smi.version, smi.licence) == (True, NEW, "licensed")
    assert (smi.devices, smi.mig, smi.mig_devices) == (1, "enabled", 1)


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        (QUERY.replace("Licensed (Expiry: N/A)", "Unlicensed (Restricted)"), "unlicensed"),
        (QUERY.split("    vGPU Software", maxsplit=1)[0], "unknown"),
        (QUERY + QUERY.replace("Licensed (Expiry", "Unlicensed (Expiry"), "unlicensed"),
    ],
)
def test_a_licence_counts_only_when_every_gpu_has_one(text: str, licence: str) -> None:
    assert smi_from(Result(0, text), Result(0, LISTING)).licence == licence


@pytest.mark.parametrize(
    ("result", "error"),
    [
        (Result(18, MISMATCH), "Failed to initialize NVML: Driver/library version mismatch"),
        (Result(TIMED_OUT), "timed out"),
        (Result(NOT_FOUND), "not found"),
        (Result(0, ""), "exit code 0"),
    ],
)
def test_a_failing_nvidia_smi_is_quoted(result: Result, error: str) -> None:
    smi = smi_from(result, result)
    assert not smi.ran
    assert smi.error == error


@pytest.mark.parametrize(
    ("query", "listing", "error"),
    [
        (Result(14, QUERY), Result(14, LISTING), "exit code 14: a GPU's infoROM is corrupted"),
        (
            Result(15, QUERY + "Unable to determine the device handle for GPU 0002:00:00.0: GPU is lost\n"),
            Result(0, LISTING),
            "exit code 15: a GPU has fallen off the bus or is otherwise inaccessible: "
            "Unable to determine the device handle for GPU 0002:00:00.0: GPU is lost",
        ),
        (Result(255, QUERY), Result(255, LISTING), "exit code 255"),
        (Result(0, QUERY), Result(TIMED_OUT), "-L: timed out"),
    ],
    ids=["infoROM", "off the bus", "no word", "the list takes too long"],
)
def test_a_failing_nvidia_smi_that_prints_its_report_is_explained(query: Result, listing: Result, error: str) -> None:
    smi = smi_from(query, listing)
    assert not smi.ran
    assert smi.error == error


def test_recovery_action_and_persistence_mode_are_read() -> None:
    text = (
        QUERY
        + "    Persistence Mode                      : Disabled\n    GPU Recovery Action                   : Reboot\n"
    )
    smi = smi_from(Result(0, text), Result(0, LISTING))
    assert (smi.recovery, smi.persistence) == ("Reboot", False)
    fine = smi_from(Result(0, text.replace("Reboot", "None").replace("Disabled", "Enabled")), Result(0, LISTING))
    assert (fine.recovery, fine.persistence) == ("", True)
