"""Judgement of a node's driver: its version, kernel modules, MIG mode and licence against the settings, and the health
that it reports for each GPU.

Pure functions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from grid_agent.report.plain import plain
from physical_ai.settings.facts.acceptance import Promise
from workbench.health.acceptance.outputs.smi import EXIT_CODES, LOST, Smi, SmiGpu, read_smi, spelled
from workbench.health.acceptance.outputs.unrecognised import Unrecognised
from workbench.health.acceptance.record import CheckResult

_NO_GPU = re.compile(rf"no devices (?:were )?found|unable to determine the device handle|{LOST.pattern}", re.IGNORECASE)
"""Messages of nvidia-smi about a GPU that the container was given and that does not answer."""


def judge_stack(
    name: str, ended: tuple[str, int | None], promise: Promise, allocatable: Mapping[str, int], gpus: int = 0
) -> CheckResult:
    """The result of the driver check: `failed` if something is known to be wrong, else `no-verdict` if something is not
    known, else `passed`.

    Args:
        ended: The log and the exit code of the container.
        gpus: Number of GPUs that the container was given; 0 if that is not known.

    Raises:
        Unrecognised: the log is neither a complete report, nor says why there is none.
    """
    log, exit_code = ended
    known = EXIT_CODES.get(exit_code or 0, "")
    try:
        smi = read_smi(log)
    except Unrecognised:
        said = [plain(line) for line in log.splitlines() if _NO_GPU.search(line)]
        if said or known:
            return CheckResult(name, "failed", "; ".join(dict.fromkeys(filter(None, [known, *said[:4]]))))
        raise
    wrong = [*_offered(promise, allocatable), *_driver(smi, promise)]
    if gpus and len(smi.gpus) != gpus:
        wrong.append(f"the report is about {len(smi.gpus)} GPUs, and the container was given {gpus}")
    wrong += [f"GPU {gpu.address}: {text}" for gpu in smi.gpus for text in _gpu(gpu, promise)]
    wrong += [*([known] if known else []), *(each for each in smi.warnings if _NO_GPU.search(each))]
    if wrong:
        return CheckResult(name, "failed", "; ".join(wrong))
    unknown = [f"GPU {gpu.address}: {text}" for gpu in smi.gpus for text in gpu.unknown]
    unknown += [f"nvidia-smi warns: {each}" for each in smi.warnings]
    if unknown:
        return CheckResult(name, "no-verdict", f"the output of nvidia-smi is not understood: {'; '.join(unknown[:8])}")
    products = ", ".join(sorted({gpu.product for gpu in smi.gpus}))
    notes = [text for gpu in smi.gpus if (text := _note(gpu))]
    return CheckResult(name, "passed", "; ".join([f"driver {smi.driver}, {products}", *dict.fromkeys(notes)]))


def _offered(promise: Promise, allocatable: Mapping[str, int]) -> list[str]:
    return [
        f"the node offers {allocatable.get(resource, 0)} x {resource}, and the pool's settings promise {count}"
        for resource, count in promise.resources.items()
        if allocatable.get(resource, 0) != count
    ]


def _driver(smi: Smi, promise: Promise) -> list[str]:
    wrong: list[str] = []
    if promise.driver is not None and smi.driver != promise.driver:
        wrong.append(f"the driver is {smi.driver}, and the pool's settings say {promise.driver}")
    if promise.modules is not None and smi.modules != promise.modules:
        wrong.append(f"the kernel modules are {smi.modules}, and the pool's settings say {promise.modules}")
    return wrong


def _gpu(gpu: SmiGpu, promise: Promise) -> list[str]:
    wrong = _settings(gpu, promise)
    if gpu.needs:
        wrong.append(f"the driver asks for a recovery: {gpu.needs}")
    if gpu.remap_failed == "Yes":
        wrong.append("a memory row could not be remapped: the GPU has to be replaced")
    if gpu.remap_pending == "Yes":
        wrong.append("a memory row waits to be remapped: reboot the node")
    if gpu.retirement_pending == "Yes":
        wrong.append("a memory page waits to be retired: reboot the node")
    if gpu.unrepairable == "Yes":
        wrong.append("memory cannot be repaired: the GPU has to be replaced")
    if gpu.threshold_exceeded == "Yes":
        wrong.append("too many uncorrectable errors of SRAM in the GPU's life: it has to be replaced")
    wrong += [f"a repair is pending ({unit}): reboot the node" for unit in gpu.repairs_pending]
    if gpu.uncorrectable:
        wrong.append(f"{gpu.uncorrectable} uncorrectable memory errors since the driver was loaded")
    return wrong


def _settings(gpu: SmiGpu, promise: Promise) -> list[str]:
    """Texts about the pool's settings that a GPU does not have. A mode that the driver does not report gives no
    text.
    """
    wrong: list[str] = []
    if gpu.mig_known and (gpu.mig or "Disabled") != promise.mig:
        wrong.append(f"MIG mode is {gpu.mig or 'not available'}, and the pool's settings say {promise.mig}")
    elif gpu.mig_known and gpu.mig_pending not in ("", gpu.mig or "Disabled"):
        wrong.append(f"MIG mode is {gpu.mig_pending} after the next reset, and the pool's settings say {promise.mig}")
    if promise.licensed and gpu.licence != "Licensed":
        wrong.append(f"the vGPU has no licence ({gpu.licence or 'no licence status'}), so it will be throttled")
    if promise.persistence and gpu.persistence == "Disabled":
        wrong.append("persistence mode is off, so the first program after a pause waits for the driver")
    return wrong


def _note(gpu: SmiGpu) -> str:
    """Remark about a property of a GPU that a user should know and that is no fault; empty if there is none."""
    if spelled(gpu.recovery) == "drain p2p":
        return f"GPU {gpu.address} reaches no peer until it is reset ({gpu.recovery})"
    return "" if gpu.counts_errors else "no memory errors are counted (ECC is off, or not for this GPU)"
