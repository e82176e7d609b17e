"""Names, ports and limits of the data services that run in the cluster itself: PostgreSQL, Valkey and SeaweedFS."""

from __future__ import annotations

from collections.abc import Mapping

POSTGRES, CACHE, STORAGE = "osmo-postgres", "osmo-cache", "osmo-storage"
"""Names of the objects of each service. The name of a volume from a restored snapshot also has the snapshot's time."""
SERVICES = (POSTGRES, STORAGE, CACHE)
"""Services in the order of their snapshots: objects that a row of the database names are in a later snapshot of the
storage."""
PORTS: Mapping[str, int] = {POSTGRES: 5432, CACHE: 6379, STORAGE: 8333}
IMAGES: Mapping[str, str] = {POSTGRES: "library/postgres", CACHE: "valkey/valkey", STORAGE: "chrislusf/seaweedfs"}
"""Names in physical_ai/catalog/data/images.yaml."""
REGISTRY = "docker.io"
"""Registry to which their publishers push the images."""

LABEL = "physical-ai/data-service"
"""Label of the Pods; its value is the service's name."""
REGION = "us-east-1"
"""S3 clients have to name one; SeaweedFS accepts every region."""

CONFIG_FILE, IDENTITIES_FILE = "valkey.conf", "identities.json"
CREDENTIAL_FILE = "cred.yaml"
"""File of a Secret whose content OSMO puts in the place of `secretName` (NVIDIA/OSMO deployments/upgrades,
6_2_to_6_3_upgrade.md; src/service/core/config/configmap_loader.py)."""
PATH_STYLE = {"name": "AWS_S3_FORCE_PATH_STYLE", "value": "true"}
"""Buckets are part of the path: `BUCKET.host` would not resolve (NVIDIA/OSMO src/lib/data/storage/backends/s3.py)."""

AKS_DRIVER = "disk.csi.azure.com"
SNAPSHOT_CLASS = "physical-ai-data"
"""The VolumeSnapshotClass that the program creates: AKS has the driver and the controller, and no class (AKS docs,
azure-disk-csi, "Volume snapshots")."""
SNAPSHOT_API = "snapshot.storage.k8s.io"
SNAPSHOT_VERSION = "v1"

AKS_DISK_CLASSES = frozenset({"default", "managed", "managed-csi", "managed-csi-premium", "managed-premium"})
AKS_FILE_CLASSES = frozenset({"azurefile", "azurefile-csi", "azurefile-csi-premium", "azurefile-premium"})
"""Classes that AKS creates (AKS docs, concepts-storage, "Storage classes"; recalled, not opened)."""
