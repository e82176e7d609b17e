"""Rules on tasks: resources, GPUs, images, secrets, privileges, and the Pods of the tasks."""

from __future__ import annotations

from physical_ai.catalog import sources
from workbench.osmo.lint.registry import ISAAC, SEEN, TEMPLATES, TOOLKIT, rule

RESOURCE_UNKNOWN = rule(
    "resource-unknown",
    "error",
    "`resource` names an entry of `resources`; without it, an entry `default` exists.",
    reason="OSMO refuses the workflow otherwise.",
    fix="Define the resource.",
)
PLATFORM_UNKNOWN = rule(
    "platform-unknown",
    "error",
    "The platform is one of the stack's.",
    reason="A workflow for a platform that the pool does not have is refused.",
    fix="Name one of the stack's platforms.",
)
GPU_EXPLICIT = rule(
    "gpu-explicit",
    "error",
    "A task on a GPU platform sets the number of its GPUs.",
    reason="OSMO decides from the workflow alone whether GPUs are used; without `gpu` it hides them from the task.",
    fix="gpu: 1",
)
GPU_LIMIT = rule(
    "gpu-limit",
    "error",
    "GPUs fit one node of the platform; shares of a GPU are at most as many as one task may request.",
    reason="A Pod runs on one node: it would wait forever.",
    fix="Request fewer, or use a platform with larger nodes.",
)
GPU_ON_CPU = rule(
    "gpu-on-cpu",
    "error",
    "A task that requests GPUs names a GPU platform.",
    reason="Without `platform` it runs on the pool's default platform, which has no GPU.",
    fix="platform: one with GPUs",
)
NODE_LIMIT = rule(
    "node-limit",
    "error",
    "CPU, memory and storage fit a node, less what AKS, its agents and OSMO's own container use.",
    reason="A Pod that fits no node waits until queue_timeout; the pool may even scale up without effect.",
    fix="Request less, or use a platform with larger nodes.",
    source=f"AKS docs, node-resource-reservations; {sources.SIZES}",
)
GANG_LIMIT = rule(
    "gang-limit",
    "error",
    "All tasks of a group fit their pool at its maximum at the same time.",
    reason="A group is scheduled completely or not at all. A group that is too large waits until queue_timeout, and"
    " the pool scales up without effect.",
    fix="Fewer tasks in the group, or a larger pool.",
    source="KAI-Scheduler, PodGroup minMember; OSMO 6.3.1, tests/fixtures/osmo",
)
SHARED_MEMORY = rule(
    "shared-memory",
    "warning",
    "A GPU task's memory is larger than the platform's shared memory.",
    reason="Shared memory counts as the container's memory: above the limit the task is killed.",
    fix="Request more memory than the platform's shared memory.",
    source=TEMPLATES,
)
AMOUNT_UNIT = rule(
    "amount-unit",
    "error",
    "Amounts have a unit that OSMO and Kubernetes interpret alike: Ki, Mi, Gi, Ti.",
    reason="OSMO accepts GiB, K and B, which Kubernetes rejects, and reads G as Gi, which Kubernetes does not.",
    fix="Example: 64Gi.",
)
CACHE_SIZE = rule(
    "cache-size",
    "error",
    "`cacheSize` is an amount, or a percentage together with the workflow's own `storage`.",
    reason="A percentage of the default storage becomes the text 0None, with which no container starts.",
    fix="Set storage, or an amount such as 20Gi.",
)
NODE_EXCLUSION = rule(
    "node-exclusion",
    "warning",
    "`nodesExcluded` is used where a pod template of the platform applies it.",
    reason="OSMO only passes the list to templates; no template of this stack uses it, so nothing is excluded.",
    fix="Remove it.",
)
TOPOLOGY = rule(
    "topology",
    "error",
    "Topology keys are keys of the pool, the same for all tasks that have any.",
    reason="OSMO refuses others.",
    fix="Use the pool's keys, or remove `topology`.",
)
GPU_CAPABILITIES = rule(
    "gpu-capabilities",
    "error",
    "Every GPU task sets NVIDIA_DRIVER_CAPABILITIES to all, or at least includes graphics where it renders.",
    reason="Without graphics the container has CUDA but no Vulkan: rendering fails, or silently falls back to the CPU.",
    fix="environment: {NVIDIA_DRIVER_CAPABILITIES: all}",
    source=TOOLKIT,
)
GPU_VISIBLE = rule(
    "gpu-visible-devices",
    "error",
    "No task sets NVIDIA_VISIBLE_DEVICES.",
    reason="The device plugin assigns a task's GPUs; with another value the task sees other GPUs or none.",
    fix="Remove the variable, and set `gpu`.",
    source=SEEN,
)
ISAAC_VGPU = rule(
    "isaac-vgpu",
    "error",
    "On a vGPU platform Isaac Sim is 6.0 or newer, Isaac Lab 3.0 or newer.",
    reason="Isaac Sim before 6.0 refuses a vGPU that Azure's host has cut by MIG, with any driver.",
    fix="An image of Isaac Sim 6.x or Isaac Lab 3.x, or a platform with a full GPU.",
    source=ISAAC,
)
ISAAC_EULA = rule(
    "isaac-eula",
    "error",
    "A task with Isaac Sim or Isaac Lab accepts the licence in its environment.",
    reason="Without ACCEPT_EULA=Y the container exits at once, after its GPU node was started.",
    fix="environment: {ACCEPT_EULA: Y, PRIVACY_CONSENT: Y}",
    source="NVIDIA Isaac Sim docs, container installation",
)
ISAAC_CLOSE = rule(
    "isaac-close",
    "warning",
    "Scripts end after env.close() with os._exit(code), not with simulation_app.close() without a code.",
    reason="simulation_app.close() hangs where Vulkan failed, and the task with it until exec_timeout. Isaac Sim 6 ends"
    " it by a watchdog, but without an exit code as a success.",
    fix="os._exit(code) as the last line, after all output is written.",
    source="isaac-sim/IsaacLab#3475, #3782; isaac-sim/IsaacSim#717",
)
IMAGE_REFERENCE = rule(
    "image-reference",
    "error",
    "`image` is an image reference.",
    reason="OSMO refuses references that it can't parse: an upper-case repository, an empty tag.",
    fix="registry/name:tag@sha256:…",
)
IMAGE_LATEST = rule(
    "image-latest",
    "error",
    "An image has a tag other than latest, or a digest.",
    reason="The same workflow may run another image tomorrow, and OSMO pulls it again for every task.",
    fix="Name the version.",
    source="Kubernetes docs, images",
)
IMAGE_DIGEST = rule(
    "image-digest",
    "warning",
    "An image is pinned by its digest.",
    reason="A tag can be moved; then a training can't be repeated.",
    fix="Add @sha256:… as the registry shows it (docker buildx imagetools inspect IMAGE).",
    source="Kubernetes docs, images",
)
PRIVILEGED = rule(
    "privileged",
    "error",
    "A task is privileged, uses the host network or mounts host folders only where the platform allows it.",
    reason="OSMO refuses it, and so does the workflows' namespace, which enforces the Pod Security level baseline.",
    fix="Remove it; use inputs and outputs for data.",
    source=SEEN + "; manifests/namespaces.yaml",
)
CREDENTIAL_PLAIN = rule(
    "credential-plain",
    "error",
    "Secrets come from `credentials`, not from `environment`, `args` or `files`.",
    reason="A workflow's text is stored, shown in the web interface and sent with every retry.",
    fix="credentials: {name: {VARIABLE: key}}, after osmo credential set.",
    source="NVIDIA/OSMO docs, credentials",
)
CREDENTIAL_FORM = rule(
    "credential-form",
    "error",
    "A credential is mapped to variables, or to an absolute folder outside /osmo.",
    reason="It becomes a file in that folder, and OSMO forbids files below /osmo.",
    fix="credentials: {hf: {HF_TOKEN: token}}, or {ssh: /root/.ssh}",
)
ENV_TWO_SOURCES = rule(
    "env-two-sources",
    "error",
    "A variable has a value or a credential, not both, also where a pod template sets it.",
    reason="OSMO merges both into one entry with value and valueFrom, and Kubernetes rejects the Pod.",
    fix="Rename the variable, or remove one of the two.",
    source=TEMPLATES,
)
ENV_TWICE = rule(
    "env-twice",
    "error",
    "A variable is unique in the container's environment.",
    reason="The last one is used: the workflow's own value may be lost.",
    fix="Keep one of them.",
    source=TEMPLATES,
)
POD_INVALID = rule(
    "pod-invalid",
    "error",
    "Kubernetes accepts the Pod that OSMO creates for the task.",
    reason="Templates and workflow are merged without a check of the result: a duplicate toleration, port or mount, a"
    " volume with two sources, an amount that is the text None, a file that is too large.",
    fix="Change the pod template or the workflow as the message describes.",
    source=TEMPLATES,
)
