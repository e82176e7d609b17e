"""Checks of containers: variables for GPUs, Isaac's requirements, images, secrets, privileges."""

from __future__ import annotations

import re
from collections.abc import Mapping

from physical_ai.findings import Severity
from physical_ai.planning.osmo_platforms import CAPABILITIES
from workbench.osmo import names
from workbench.osmo.lint import rules_task
from workbench.osmo.lint.entry import exported
from workbench.osmo.lint.finding import Path
from workbench.osmo.lint.images import Isaac, isaac
from workbench.osmo.lint.view import TaskView, View, forces_capabilities
from workbench.osmo.refusal import Refusal

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128}")
"""Digest that containerd accepts (distribution/reference, digest.go). OSMO also accepts digests of any other length."""
_KNOWN = {"compute", "compat32", "graphics", "utility", "video", "display", "ngx"}
_NEEDED = ("compute", "utility")
_VISIBLE = "NVIDIA_VISIBLE_DEVICES"
_SECRET_NAME = re.compile(r"(TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CONNECTION_STRING)$")
_SECRET_VALUE = re.compile(
    r"hf_[A-Za-z0-9]{20,}|ghp_[A-Za-z0-9]{30,}|nvapi-[\w-]{20,}|AKIA[0-9A-Z]{16}|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|[?&]sig=[A-Za-z0-9%]{20,}"
)
_CLOSES = re.compile(r"\b(simulation_app|app_launcher\.app)\.close\(\s*\)")
"""Call that closes the simulator without an exit code. During this call, the process may hang, or end with exit code 0
even after a failure.
"""


def check(view: View) -> None:
    """Adds the findings of all checks in this module to the findings about the workflow."""
    for task in view.tasks:
        product = _image(view, task)
        _gpu_environment(view, task, product)
        _isaac(view, task, product)
        _secrets(view, task)
        _credentials(view, task)
        _privileges(view, task)


def _image(view: View, task: TaskView) -> Isaac | None:
    path = (*task.path, "image")
    try:
        image = names.image(task.spec.image)
    except Refusal as refusal:
        view.add(rules_task.IMAGE_REFERENCE, path, refusal.message)
        return None
    if image.digest is not None and not _DIGEST.fullmatch(image.digest):
        problem = f"{task.spec.image}: a digest is sha256: and 64 hexadecimal digits in lower case"
        view.add(rules_task.IMAGE_REFERENCE, path, problem)
    if image.digest is None:
        if image.tag == "latest":
            view.add(rules_task.IMAGE_LATEST, path, f"{task.spec.image} has no fixed version")
        else:
            view.add(rules_task.IMAGE_DIGEST, path, f"{task.spec.image} has no digest")
    return isaac(image)


def _gpu_environment(view: View, task: TaskView, product: Isaac | None) -> None:
    if _VISIBLE in view.environment(task):
        path = (*task.path, "environment", _VISIBLE)
        view.add(rules_task.GPU_VISIBLE, path, f"'{task.name}' sets {_VISIBLE}")
    if not task.on_gpu:
        return
    problem, path = _capabilities(task, view.environment(task), product)
    if problem is None:
        return
    severity = None
    if task.platform is not None and forces_capabilities(task.platform.parsed_pod_template):
        severity = Severity.WARNING
        problem += f"; platform '{task.platform_name}' sets it to all, but another service may not"
    view.add(rules_task.GPU_CAPABILITIES, path, problem, severity=severity)


def _capabilities(task: TaskView, env: Mapping[str, str], product: Isaac | None) -> tuple[str | None, Path]:
    """Problem with the value of NVIDIA_DRIVER_CAPABILITIES for a GPU task, or None, and the path at which to report it.

    Only the task's environment counts: the container runtime reads the variable before a script of the task could set
    it.
    """
    value = env.get(CAPABILITIES)
    if value is None:
        problem = f"'{task.name}' uses a GPU and does not set {CAPABILITIES}"
        return problem, (*task.path, "environment") if env else task.path
    path = (*task.path, "environment", CAPABILITIES)
    has = {word.strip() for word in value.split(",")}
    if "all" in has:
        return None, path
    unknown = sorted(has - _KNOWN)
    if unknown:
        return f"'{', '.join(unknown)}' is not a driver capability", path
    needed = (*_NEEDED, "graphics") if product else _NEEDED
    missing = [word for word in needed if word not in has]
    if not missing:
        return None, path
    what = f"{product.product} renders" if product and missing == ["graphics"] else f"'{task.name}' needs more"
    return f"{what}: {', '.join(missing)} is missing in {value}", path


def _ends_by_itself(product: Isaac | None) -> bool:
    """True if the simulator of the Isaac product ends within a limited time after `close`. From Isaac Sim 6.0 on, a
    watchdog ensures this.
    """
    return product is not None and product.sim is not None and product.sim >= (6, 0)


def _isaac(view: View, task: TaskView, product: Isaac | None) -> None:
    texts = [(("files", index, "contents"), file.contents) for index, file in enumerate(task.spec.files)]
    texts += [(("args", index), text) for index, text in enumerate(task.spec.args)]
    for step, text in texts:
        if found := _CLOSES.search(text):
            fix = "simulation_app.close(exit_code=code), or os._exit(code)" if _ends_by_itself(product) else None
            view.add(rules_task.ISAAC_CLOSE, (*task.path, *step), f"'{task.name}' ends with {found[0]}", fix)
    if product is None:
        return
    accepted = view.environment(task).get("ACCEPT_EULA") or exported(task, "ACCEPT_EULA") or ""
    if accepted.upper() not in ("Y", "YES"):
        where = (*task.path, "environment") if task.spec.environment else task.path
        view.add(rules_task.ISAAC_EULA, where, f"'{task.name}' runs {product.product} and does not accept its licence")
    if task.platform_name in view.context.cut_vgpu and product.runs_on_cut_vgpu is False:
        version = f"{product.product} {product.version} has Isaac Sim before 6.0"
        if product.product == "Isaac Sim":
            version = f"Isaac Sim {product.version} is older than 6.0"
        problem = f"{version}: it rejects the vGPU of platform '{task.platform_name}'"
        view.add(rules_task.ISAAC_VGPU, (*task.path, "image"), problem)


def _secrets(view: View, task: TaskView) -> None:
    for name, value in task.spec.environment.items():
        if value and (_SECRET_NAME.search(name.upper()) or _SECRET_VALUE.search(value)):
            path = (*task.path, "environment", name)
            fix = f"credentials: {{NAME: {{{name}: KEY}}}}, after osmo credential set NAME."
            view.add(rules_task.CREDENTIAL_PLAIN, path, f"'{name}' looks like a plain-text secret", fix)
    texts = [(("args", index), text) for index, text in enumerate(task.spec.args)]
    texts += [(("files", index, "contents"), file.contents) for index, file in enumerate(task.spec.files)]
    for step, text in texts:
        if _SECRET_VALUE.search(text):
            view.add(rules_task.CREDENTIAL_PLAIN, (*task.path, *step), "this looks like a plain-text secret")


def _credentials(view: View, task: TaskView) -> None:
    for name, target in task.spec.credentials.items():
        path = (*task.path, "credentials", name)
        if isinstance(target, str):
            steps = [step for step in target.split("/") if step]
            if not target.startswith("/") or steps[:1] == ["osmo"]:
                view.add(rules_task.CREDENTIAL_FORM, path, f"'{target}' is not an absolute folder outside /osmo")
            continue
        for variable in target:
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", variable):
                view.add(rules_task.CREDENTIAL_FORM, (*path, variable), f"'{variable}' is not a valid variable name")


def _privileges(view: View, task: TaskView) -> None:
    platform = task.platform
    if platform is None:
        return
    denied = f"platform '{task.platform_name}' does not allow"
    if task.spec.privileged and not platform.privileged_allowed:
        view.add(
            rules_task.PRIVILEGED, (*task.path, "privileged"), f"{denied} privileged", _allowing(task, "privileged")
        )
    if task.spec.hostNetwork and not platform.host_network_allowed:
        fix = _allowing(task, "hostNetwork")
        view.add(rules_task.PRIVILEGED, (*task.path, "hostNetwork"), f"{denied} hostNetwork", fix)
    for index, mount in enumerate(task.spec.volumeMounts):
        path = (*task.path, "volumeMounts", index)
        parts = mount.split(":")
        if len(parts) > 2 or parts[1:] == [""]:
            view.add(rules_task.PRIVILEGED, path, f"'{mount}' is not a mount", "Example: /source or /source:/target.")
        elif parts[0] in platform.default_mounts and parts[0] not in platform.allowed_mounts:
            problem = f"platform '{task.platform_name}' mounts {parts[0]} already: OSMO makes no Pod of it"
            fix = "Remove it: the task has the mount. OSMO 6.3.1 accepts the line, and fails later; 6.4 refuses it."
            view.add(rules_task.PRIVILEGED, path, problem, fix)
        elif parts[0] not in platform.allowed_mounts:
            allowed = ", ".join(platform.allowed_mounts) or "none"
            view.add(rules_task.PRIVILEGED, path, f"{denied} the mount {parts[0]}; allowed: {allowed}")


def _allowing(task: TaskView, key: str) -> str:
    """Advice about a task that asks for the privilege `key`: to remove it, or the OSMO setting and the Pod Security
    level that the privilege needs.
    """
    if task.facts is not None and not task.facts.has_gpu:
        return "Remove it: no setting allows it on a platform without GPUs."
    pool = task.facts.pool if task.facts is not None else "<pool>"
    return (
        f"Remove it. osmo.platforms.{pool}.{key}: true makes OSMO accept it; Kubernetes still refuses the Pod, as the"
        " namespace osmo-workflows enforces Pod Security baseline: a task that can't do without needs a backend of its"
        " own, whose namespace has the level privileged."
    )
