"""Names, ports and limits of the data services that run in the cluster itself: PostgreSQL, Valkey and SeaweedFS."""

from __future__ import annotations

from collections.abc import Mapping

POSTGRES, CACHE, STORAGE = "osmo-postgres", "osmo-cache", "osmo-storage"
"""Names of the three data services in the cluster, and of their Kubernetes objects.

A volume that was restored from a snapshot also has the snapshot's time in its name.
"""
SERVICES = (POSTGRES, STORAGE, CACHE)
"""Services in the order of their snapshots: the storage comes after the database, so that its snapshot contains every
object that a row of the database refers to.
"""
PORTS: Mapping[str, int] = {POSTGRES: 5432, CACHE: 6379, STORAGE: 8333}
IMAGES: Mapping[str, str] = {POSTGRES: "library/postgres", CACHE: "valkey/valkey", STORAGE: "chrislusf/seaweedfs"}
"""Names of the images in physical_ai/catalog/data/images.yaml."""
REGISTRY = "docker.io"
"""Default registry of the images, to which their publishers push them."""

LABEL = "physical-ai/data-service"
"""Label of the services' Pods; its value is the service's name."""
REGION = "us-east-1"
"""AWS region that S3 clients have to name in requests. SeaweedFS accepts any region."""

CONFIG_FILE, IDENTITIES_FILE = "valkey.conf", "identities.json"
CREDENTIAL_FILE = "cred.yaml"
"""Key in the Secrets to which `secretName` in OSMO's configuration refers; OSMO reads the credentials under this key
(NVIDIA/OSMO deployments/upgrades, 6_2_to_6_3_upgrade.md; src/service/core/config/configmap_loader.py).
"""
PATH_STYLE = {"name": "AWS_S3_FORCE_PATH_STYLE", "value": "true"}
"""Environment variable that makes S3 clients put the bucket into the path: `BUCKET.host` would not resolve
(NVIDIA/OSMO src/lib/data/storage/backends/s3.py).
"""

AKS_DRIVER = "disk.csi.azure.com"
SNAPSHOT_CLASS = "physical-ai-data"
"""Name of the VolumeSnapshotClass that the program creates: AKS has the driver and the controller, but no class (AKS
docs, azure-disk-csi, "Volume snapshots").
"""
SNAPSHOT_API = "snapshot.storage.k8s.io"
SNAPSHOT_VERSION = "v1"

AKS_DISK_CLASSES = frozenset({"default", "managed", "managed-csi", "managed-csi-premium", "managed-premium"})
AKS_FILE_CLASSES = frozenset({"azurefile", "azurefile-csi", "azurefile-csi-premium", "azurefile-premium"})
"""StorageClasses of Azure Files that AKS creates (AKS docs, concepts-storage, "Storage classes"; from memory, page not
opened).
"""
