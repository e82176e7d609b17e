"""Properties whose change replaces an object, by kind, because they can't be changed in place.

Source: pulumi-kubernetes v4, provider/pkg/provider/diff.go (2025). An API server refuses changes of further properties,
too: such a change is planned as an update and then fails, as with the official plugin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_CONTAINER = [
    "args",
    "command",
    "env",
    "image",
    "imagePullPolicy",
    "lifecycle",
    "livenessProbe",
    "ports",
    "readinessProbe",
    "resources",
    "securityContext",
    "stdin",
    "stdinOnce",
    "terminationMessagePath",
    "terminationMessagePolicy",
    "tty",
    "volumeDevices",
    "volumeMounts",
    "workingDir",
]
_POD = [
    "affinity",
    "automountServiceAccountToken",
    "dnsConfig",
    "dnsPolicy",
    "enableServiceLinks",
    "hostAliases",
    "hostIPC",
    "hostNetwork",
    "hostPID",
    "hostname",
    "imagePullSecrets",
    "nodeName",
    "nodeSelector",
    "overhead",
    "preemptionPolicy",
    "priority",
    "priorityClassName",
    "readinessGates",
    "restartPolicy",
    "runtimeClassName",
    "schedulerName",
    "securityContext",
    "serviceAccount",
    "serviceAccountName",
    "shareProcessNamespace",
    "subdomain",
    "terminationGracePeriodSeconds",
    "volumes",
]
_VOLUME_SOURCES = [
    "awsElasticBlockStore",
    "azureDisk",
    "azureFile",
    "cephfs",
    "cinder",
    "csi",
    "fc",
    "flexVolume",
    "flocker",
    "gcePersistentDisk",
    "glusterfs",
    "hostPath",
    "iscsi",
    "local",
    "nfs",
    "photonPersistentDisk",
    "portworxVolume",
    "quobyte",
    "rbd",
    "scaleIO",
    "storageos",
    "vsphereVolume",
]
_STATEFUL_SET = [
    "podManagementPolicy",
    "revisionHistoryLimit",
    "selector",
    "serviceName",
    "volumeClaimTemplates",
]

FORCE_NEW: Mapping[tuple[str, str], Sequence[str]] = {
    ("", "PersistentVolume"): [f"spec.{source}" for source in _VOLUME_SOURCES],
    ("", "PersistentVolumeClaim"): [
        f"spec.{key}" for key in ("accessModes", "selector", "storageClassName", "volumeName")
    ],
    ("", "Pod"): [f"spec.{key}" for key in _POD]
    + [f"spec.{part}[*].{key}" for part in ("containers", "initContainers") for key in _CONTAINER],
    ("", "ResourceQuota"): ["spec.scopes"],
    ("", "Secret"): ["type"],
    ("", "Service"): ["spec.clusterIP"],
    ("apps", "DaemonSet"): ["spec.selector"],
    ("apps", "Deployment"): ["spec.selector"],
    ("apps", "StatefulSet"): [f"spec.{key}" for key in _STATEFUL_SET],
    ("batch", "Job"): [f"spec.{key}" for key in ("completions", "parallelism", "selector", "template")],
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): ["roleRef"],
    ("rbac.authorization.k8s.io", "RoleBinding"): ["roleRef"],
    ("storage.k8s.io", "StorageClass"): ["parameters", "provisioner"],
}
"""Property paths whose change replaces an object, by group and kind. A change of the name or namespace replaces any
object.
"""
