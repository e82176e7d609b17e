"""Rules about tasks: resources, GPUs, images, secrets, privileges, and the Pods that come of them."""

from __future__ import annotations

from physical_ai.catalog import sources
from physical_ai.osmo.lint.registry import ISAAC, SEEN, TEMPLATES, TOOLKIT, rule

RESOURCE_UNKNOWN = rule(
    "resource-unknown",
    "error",
    "`resource` names an entry of `resources`; without it there is one called `default`.",
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
    "A task on a GPU platform says how many GPUs it takes.",
    reason="OSMO looks at the workflow alone to see whether GPUs are used; without `gpu` it hides them from a task.",
    fix="gpu: 1",
)
GPU_LIMIT = rule(
    "gpu-limit",
    "error",
    "GPUs fit one node of the platform, shares of a GPU what one task may take of them.",
    reason="A Pod runs on one node: it would wait for ever.",
    fix="Ask for fewer, or use a platform of larger nodes.",
)
GPU_ON_CPU = rule(
    "gpu-on-cpu",
    "error",
    "A task that takes GPUs names a GPU platform.",
    reason="Without `platform` it goes to the pool's default, which has no GPU.",
    fix="platform: one with GPUs",
)
NODE_LIMIT = rule(
    "node-limit",
    "error",
    "CPU, memory and storage fit a node, less what AKS, its agents and OSMO's own container take.",
    reason="A Pod that fits no node waits until queue_timeout; the pool may even scale up for it in vain.",
    fix="Ask for less, or use a platform of larger nodes.",
    source=f"AKS docs, node-resource-reservations; {sources.SIZES}",
)
GANG_LIMIT = rule(
    "gang-limit",
    "error",
    "The tasks of a group fit their pool at its largest, all at the same time.",
    reason="A group is scheduled whole or not at all. One that is too large waits until queue_timeout, and the pool"
    " scales up for it in vain.",
    fix="Fewer tasks in the group, or a larger pool.",
    source="KAI-Scheduler, PodGroup minMember; OSMO 6.3.1, tests/fixtures/osmo",
)
SHARED_MEMORY = rule(
    "shared-memory",
    "warning",
    "A GPU task's memory holds the platform's shared memory.",
    reason="What is in shared memory counts as the container's: beyond its limit the task is killed.",
    fix="Ask for more memory than the platform's shared memory.",
    source=TEMPLATES,
)
AMOUNT_UNIT = rule(
    "amount-unit",
    "error",
    "Amounts have a unit that OSMO and Kubernetes both read alike: Ki, Mi, Gi, Ti.",
    reason="OSMO takes GiB, K and B, which Kubernetes refuses, and reads G as Gi, which Kubernetes does not.",
    fix="As 64Gi.",
)
CACHE_SIZE = rule(
    "cache-size",
    "error",
    "`cacheSize` is an amount, or a percentage beside a `storage` of the workflow's own.",
    reason="A percentage of a default storage becomes the text 0None, which no container starts with.",
    fix="Write storage, or an amount as 20Gi.",
)
NODE_EXCLUSION = rule(
    "node-exclusion",
    "warning",
    "`nodesExcluded` is used where a pod template of the platform heeds it.",
    reason="OSMO only offers the list to templates; none of this stack's uses it, so nothing is excluded.",
    fix="Take it out.",
)
TOPOLOGY = rule(
    "topology",
    "error",
    "Topology keys are the pool's, and the same for all tasks that have any.",
    reason="OSMO refuses others.",
    fix="Use the pool's keys, or take `topology` out.",
)
GPU_CAPABILITIES = rule(
    "gpu-capabilities",
    "error",
    "Every GPU task sets NVIDIA_DRIVER_CAPABILITIES to all; with graphics at least where it renders.",
    reason="Without graphics the container has CUDA and no Vulkan: rendering fails, or falls back to the CPU, unsaid.",
    fix="environment: {NVIDIA_DRIVER_CAPABILITIES: all}",
    source=TOOLKIT,
)
GPU_VISIBLE = rule(
    "gpu-visible-devices",
    "error",
    "No task sets NVIDIA_VISIBLE_DEVICES.",
    reason="The device plugin says which GPUs are a task's; with another value it sees others' or none.",
    fix="Take the variable out, and ask for `gpu`.",
    source=SEEN,
)
ISAAC_VGPU = rule(
    "isaac-vgpu",
    "error",
    "On a vGPU platform Isaac Sim is 6.0 or newer, Isaac Lab 3.0 or newer.",
    reason="Isaac Sim before 6.0 refuses a vGPU that Azure's host has cut by MIG, whatever the driver.",
    fix="An image of Isaac Sim 6.x or Isaac Lab 3.x, or a platform with a whole GPU.",
    source=ISAAC,
)
ISAAC_EULA = rule(
    "isaac-eula",
    "error",
    "A task with Isaac Sim or Isaac Lab accepts the licence in its environment.",
    reason="Without ACCEPT_EULA=Y the container ends at once, its GPU node started for nothing.",
    fix="environment: {ACCEPT_EULA: Y, PRIVACY_CONSENT: Y}",
    source="NVIDIA Isaac Sim docs, container installation",
)
ISAAC_CLOSE = rule(
    "isaac-close",
    "warning",
    "Scripts end after env.close() with os._exit(code), not with simulation_app.close().",
    reason="simulation_app.close() hangs where Vulkan failed, and with it the task until exec_timeout.",
    fix="os._exit(code) as the last line, once everything is written.",
    source="isaac-sim/IsaacLab#3475, #3782",
)
IMAGE_REFERENCE = rule(
    "image-reference",
    "error",
    "`image` is an image reference.",
    reason="OSMO refuses what it can't take apart: an upper-case repository, an empty tag.",
    fix="registry/name:tag@sha256:…",
)
IMAGE_LATEST = rule(
    "image-latest",
    "error",
    "An image has a tag other than latest, or a digest.",
    reason="The same workflow would run something else tomorrow, and OSMO pulls it anew for every task.",
    fix="Name the version.",
    source="Kubernetes docs, images",
)
IMAGE_DIGEST = rule(
    "image-digest",
    "warning",
    "An image is pinned by its digest.",
    reason="A tag can be moved; what was trained can't be repeated then.",
    fix="Add @sha256:… as the registry tells it (docker buildx imagetools inspect IMAGE).",
    source="Kubernetes docs, images",
)
PRIVILEGED = rule(
    "privileged",
    "error",
    "A task is privileged, uses the node's network or mounts its folders only where the platform allows it.",
    reason="OSMO refuses it, and so does the workflows' namespace, which is held to the Pod Security level baseline.",
    fix="Take it out; data comes by inputs and outputs.",
    source=SEEN + "; manifests/namespaces.yaml",
)
CREDENTIAL_PLAIN = rule(
    "credential-plain",
    "error",
    "Secrets come from `credentials`, not from `environment`, `args` or `files`.",
    reason="A workflow's text is kept, shown in the web interface and sent along with every retry.",
    fix="credentials: {name: {VARIABLE: key}}, after osmo credential set.",
    source="NVIDIA/OSMO docs, credentials",
)
CREDENTIAL_FORM = rule(
    "credential-form",
    "error",
    "A credential is taken into variables, or into an absolute folder outside /osmo.",
    reason="It becomes a file in that folder, and OSMO forbids files below /osmo.",
    fix="credentials: {hf: {HF_TOKEN: token}}, or {ssh: /root/.ssh}",
)
ENV_TWO_SOURCES = rule(
    "env-two-sources",
    "error",
    "A variable has a value or a credential, also where a pod template sets it.",
    reason="OSMO merges both into one entry with value and valueFrom, which Kubernetes refuses with the Pod.",
    fix="Rename the variable, or take one of the two out.",
    source=TEMPLATES,
)
ENV_TWICE = rule(
    "env-twice",
    "error",
    "A variable stands once in the container's environment.",
    reason="The last one counts: what the workflow says may be what is lost.",
    fix="Keep one.",
    source=TEMPLATES,
)
POD_INVALID = rule(
    "pod-invalid",
    "error",
    "The Pod that OSMO makes of the task is one that Kubernetes takes.",
    reason="Templates and workflow are merged without a look at the result: twice the same toleration, port or mount, a"
    " volume with two sources, an amount that is the word None, a file that is too large.",
    fix="Change the pod template or the workflow, as the message says.",
    source=TEMPLATES,
)
