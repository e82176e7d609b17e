"""Data services in the cluster: what is declared, who has which key, and what is kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.recording import Recording
from tests.unit.components.test_components_control_plane import CONTROL, GIVEN, PLATFORM, in_control_plane, released
from tests.unit.conftest import Simulate
from workbench.policies import Resource, Secret, evaluate

DEV, PROD = "dev-westus2", "prod-westus2"
SERVICES = ("osmo-postgres", "osmo-cache", "osmo-storage")
WORDS = {"deletion": f"delete the data of {PROD}"}


def inside(simulate: Simulate, stack: str = DEV, **given: Any) -> Recording:
    return simulate(stack, overrides(given))


def overrides(given: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**PLATFORM, "dataServices": {"source": "inCluster", "inCluster": given, **more}}


def volumes(found: Recording) -> dict[str, Resource]:
    return in_control_plane(found, "PersistentVolumeClaim")


def pod(found: Recording, service: str) -> dict[str, Any]:
    return in_control_plane(found, "StatefulSet")[service].inputs["spec"]["template"]


def plain(value: Any) -> Any:
    assert isinstance(value, Secret)
    return value.value


def text(found: Recording, secret: str, key: str) -> str:
    return plain(in_control_plane(found, "Secret")[secret].inputs["stringData"])[key]


def test_nothing_of_them_is_azures(simulate: Simulate) -> None:
    found = inside(simulate)
    kinds = ("dbforpostgresql", "redisenterprise", "azure-native:storage", "keyvault", "containerregistry")
    assert [each.type for each in found.resources if any(kind in each.type for kind in kinds)] == []
    assert set(volumes(found)) == set(in_control_plane(found, "StatefulSet")) == set(SERVICES)
    assert found.exports["dataServices"] == {
        "postgres": "osmo-postgres.osmo-control-plane.svc.cluster.local",
        "redis": "osmo-cache.osmo-control-plane.svc.cluster.local",
        "s3Endpoint": "http://osmo-storage.osmo-control-plane.svc.cluster.local:8333",
    }


def test_a_stack_with_managed_services_has_none_of_it(simulate: Simulate) -> None:
    found = simulate(DEV, PLATFORM)
    assert not found.of_type("StatefulSet")
    assert not found.of_type("PersistentVolumeClaim")


def test_without_a_control_plane_they_are_left_out(simulate: Simulate) -> None:
    found = simulate(DEV, {"dataServices": {"source": "inCluster"}})
    assert not found.of_type("StatefulSet")
    assert "dataServices" not in found.exports


def test_pods_of_the_control_plane_have_keys_and_no_identity(simulate: Simulate) -> None:
    found = inside(simulate)
    subjects = {each.inputs["subject"] for each in found.of_type("FederatedIdentityCredential")}
    assert "system:serviceaccount:osmo-control-plane:osmo" not in subjects
    values = released(found).inputs["values"]
    assert "annotations" not in values["serviceAccount"]
    assert values["services"]["postgres"]["serviceName"] == "osmo-postgres.osmo-control-plane.svc.cluster.local"
    assert values["services"]["redis"]["tlsEnabled"] is False
    workflow = values["services"]["configs"]["workflow"]
    assert workflow["workflow_data"] == {"credential": {"secretName": "osmo-workflow-data-cred"}}
    mounted = {each["secretName"] for each in values["services"]["configs"]["secretRefs"]}
    assert mounted == {"osmo-workflow-data-cred", "osmo-workflow-log-cred", "osmo-workflow-app-cred"}


def test_the_control_plane_starts_after_them(simulate: Simulate) -> None:
    found = inside(simulate)
    before = set(released(found).options.depends_on)
    needed = [*in_control_plane(found, "StatefulSet").values(), *in_control_plane(found, "Secret").values()]
    assert {each.urn for each in needed} <= before


def test_each_key_opens_one_bucket(simulate: Simulate) -> None:
    found = inside(simulate)
    server = json.loads(text(found, "osmo-storage", "identities.json"))["identities"]
    by_key = {each["credentials"][0]["accessKey"]: each for each in server}
    assert len(by_key) == 3
    for secret, bucket in (
        ("osmo-workflow-data-cred", "data"),
        ("osmo-workflow-log-cred", "logs"),
        ("osmo-workflow-app-cred", "apps"),
    ):
        given = json.loads(text(found, secret, "cred.yaml"))
        identity = by_key[given["access_key_id"]]
        assert identity["credentials"] == [{"accessKey": given["access_key_id"], "secretKey": given["access_key"]}]
        assert identity["actions"] == [f"{right}:{bucket}" for right in ("Read", "Write", "List", "Tagging")]
        assert given["endpoint"] == f"s3://{bucket}"
    buckets = next(
        each["value"]
        for each in pod(found, "osmo-storage")["spec"]["containers"][0]["env"]
        if each["name"] == "BUCKETS"
    )
    assert buckets.split() == ["data", "logs", "apps"]


def test_database_and_cache_have_the_passwords_that_the_control_plane_has(simulate: Simulate) -> None:
    found = inside(simulate)
    assert text(found, "osmo-postgres", "password") == text(found, "db-secret", "db-password")
    lines = text(found, "osmo-cache", "valkey.conf").splitlines()
    assert f"requirepass {text(found, 'redis-secret', 'redis-password')}" in lines
    assert "maxmemory 768mb" in lines


def test_another_generation_is_other_passwords_and_starts_what_reads_them(simulate: Simulate) -> None:
    first, second = inside(simulate), inside(simulate, keyGeneration=2)
    for secret, key in (("db-secret", "db-password"), ("osmo-storage", "identities.json")):
        assert text(first, secret, key) != text(second, secret, key)
    for service in SERVICES:
        assert pod(second, service)["metadata"]["annotations"] == {"physical-ai/key-generation": "2"}
    services = released(second).inputs["values"]["services"]
    noted = {services[name]["extraPodAnnotations"]["physical-ai/database-password"] for name in ("service", "worker")}
    assert noted == {"2"}
    assert {each.name for each in first.of_type("RandomPassword")} < {
        each.name for each in second.of_type("RandomPassword")
    }


@pytest.mark.parametrize("service", SERVICES)
def test_a_pod_has_no_rights_and_one_volume(simulate: Simulate, service: str) -> None:
    spec = pod(inside(simulate), service)["spec"]
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    (container,) = spec["containers"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert [
        each["persistentVolumeClaim"]["claimName"] for each in spec["volumes"] if "persistentVolumeClaim" in each
    ] == [service]
    assert "@sha256:" in container["image"]
    assert spec["nodeSelector"] == {"kubernetes.azure.com/agentpool": "cpu"}


def test_images_come_from_a_mirror_if_the_settings_name_one(simulate: Simulate) -> None:
    found = inside(simulate, registry="registry.example.com/hub")
    images = [pod(found, service)["spec"]["containers"][0]["image"] for service in SERVICES]
    assert all(image.startswith("registry.example.com/hub/") for image in images)


def test_volumes_are_of_the_class_and_size_of_the_settings(simulate: Simulate) -> None:
    found = inside(simulate, storageClass="managed-csi-premium", postgres={"storageGb": 64})
    spec = volumes(found)["osmo-postgres"].inputs["spec"]
    assert spec["storageClassName"] == "managed-csi-premium"
    assert spec["resources"] == {"requests": {"storage": "64Gi"}}
    assert "storageClassName" not in volumes(inside(simulate))["osmo-postgres"].inputs["spec"]


def test_a_restore_is_another_volume_beside_the_first(simulate: Simulate) -> None:
    found = inside(simulate, restores=["20261120-0217", "20261121-0217"])
    assert len(volumes(found)) == 9
    restored = volumes(found)["osmo-postgres-20261121-0217"].inputs["spec"]
    source = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "osmo-postgres-20261121-0217"}
    assert restored["dataSource"] == source
    assert "dataSource" not in volumes(found)["osmo-postgres"].inputs["spec"]
    mounted = pod(found, "osmo-postgres")["spec"]["volumes"][0]["persistentVolumeClaim"]
    assert mounted == {"claimName": "osmo-postgres-20261121-0217"}
    assert "--volume=osmo-postgres=osmo-postgres-20261121-0217" in snapshot_arguments(found)


def snapshot_arguments(found: Recording) -> list[str]:
    job = in_control_plane(found, "CronJob")["data-snapshots"].inputs["spec"]["jobTemplate"]["spec"]
    return job["template"]["spec"]["containers"][0]["args"]


def test_snapshots_are_taken_with_a_class_of_the_stack_or_of_the_cluster(simulate: Simulate) -> None:
    own = inside(simulate)
    (declared,) = own.of_type("VolumeSnapshotClass")
    assert (declared.inputs["driver"], declared.inputs["deletionPolicy"]) == ("disk.csi.azure.com", "Delete")
    assert "--class=physical-ai-data" in snapshot_arguments(own)
    longhorn = {"storageClass": "longhorn", "snapshots": {"className": "longhorn", "keep": 3}}
    other = inside(simulate, **longhorn)
    assert not other.of_type("VolumeSnapshotClass")
    assert {"--class=longhorn", "--keep=3"} <= set(snapshot_arguments(other))
    none = inside(simulate, snapshots={"enabled": False})
    assert "data-snapshots" not in in_control_plane(none, "CronJob")
    assert "data-snapshots" not in in_control_plane(none, "Role")


def test_the_program_that_takes_them_may_do_nothing_else(simulate: Simulate) -> None:
    role = in_control_plane(inside(simulate), "Role")["data-snapshots"].inputs
    assert [(rule["apiGroups"], rule["resources"]) for rule in role["rules"]] == [
        (["snapshot.storage.k8s.io"], ["volumesnapshots"])
    ]


def test_production_keeps_its_volumes_and_keys_until_the_words_are_said(simulate: Simulate) -> None:
    accepted = {"acceptOnePod": True}
    kept = simulate(PROD, {**overrides(accepted), "protect": False})
    free = simulate(PROD, {**overrides(accepted, **WORDS), "protect": False})
    keys = [each for each in kept.of_type("RandomPassword") if "physical-ai-data-" in each.name]
    assert keys
    assert all(each.options.protect for each in [*volumes(kept).values(), *keys])
    assert not any(each.options.protect for each in volumes(free).values())


def test_no_secret_is_seen_and_the_vault_is_not_missed(simulate: Simulate) -> None:
    found = inside(simulate)
    for each in in_control_plane(found, "Secret").values():
        assert isinstance(each.inputs["stringData"], Secret)
    assert "mek-config" in in_control_plane(found, "ConfigMap")
    assert not [each for each in found.resources if each.type == "azure-native:keyvault:Secret"]


def test_policies_find_nothing_that_they_do_not_find_with_managed_services(simulate: Simulate) -> None:
    managed = {str(each) for each in evaluate(simulate(DEV, PLATFORM).stack)}
    assert {str(each) for each in evaluate(inside(simulate).stack)} - managed == set()


def test_all_of_it_is_in_one_namespace(simulate: Simulate) -> None:
    found = inside(simulate)
    assert GIVEN
    for kind in ("StatefulSet", "PersistentVolumeClaim"):
        assert {each.inputs["metadata"]["namespace"] for each in found.of_type(kind)} == {CONTROL}
