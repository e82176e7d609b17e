"""Objects of a workflow beyond what is recorded whole: hosts, queues, places, plugins, registries, mounts."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
import yaml

from simulator.operators.kai_pod_groups import group_problems
from tests.support.osmo_recordings import configured, submit
from workbench.osmo.pods.objects import GroupObjects, generated_run, make_all
from workbench.osmo.refusal import Refusal

TWO = """workflow:
  name: two
  groups:
  - name: g
    tasks:
    - {name: Lead_one, image: u:1, command: [x], args: ["{{host:other}}", "{{uuid}}", "{{host:none}}"], lead: true}
    - {name: other, image: u:1, command: [x], args: ["{{host:Lead_one}}"]}
"""
ONE = "workflow:\n  name: one\n  tasks:\n  - {name: t, image: u:1, command: [x]}\n"


def made(text: str, override: Any = None) -> list[GroupObjects]:
    config = configured(override)
    submission = submit(text, config)
    return make_all(submission, config, generated_run(submission))


def container(group: GroupObjects, index: int = 0, task: int = 0) -> dict[str, Any]:
    return group.pods[task]["spec"]["containers"][index]


def after(args: list[str], option: str) -> list[str]:
    return [value for name, value in pairwise(args) if name == option]


def test_tasks_of_a_group_find_each_other_by_name() -> None:
    (group,) = made(TWO)
    lead, other = group.pods
    service = next(item for item in group.objects if item["kind"] == "Service")["metadata"]["name"]
    address = f"{other['spec']['hostname']}.{service}.osmo-workflows.svc.cluster.local"
    assert after(container(group)["args"], "-args") == [address, "{{uuid}}", "{{host:none}}"]
    assert lead["spec"]["subdomain"] == service
    assert container(group)["name"] == "lead-one"


def test_a_group_of_two_has_a_barrier_unless_it_wants_none() -> None:
    (group,) = made(TWO)
    assert after(container(group, 1)["args"], "-barrier") == ["osmo-group-ready"]
    (without,) = made(TWO.replace("name: g\n", "name: g\n    barrier: false\n"))
    assert after(container(without, 1)["args"], "-barrier") == []


def test_the_priority_is_on_pod_and_pod_group() -> None:
    (group,) = made(ONE)
    pod_group = next(item for item in group.objects if item["kind"] == "PodGroup")
    assert pod_group["spec"]["priorityClassName"] == "osmo-normal"
    assert group.pods[0]["metadata"]["labels"]["osmo.priority"] == "normal"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://osmo.example", ("osmo.example", "443", "wss", "https")),
        ("http://osmo.example", ("osmo.example", "80", "ws", "http")),
        ("http://osmo.example:8080/x", ("osmo.example", "8080", "ws", "http")),
    ],
)
def test_the_data_container_reaches_the_service_by_its_address(url: str, expected: tuple[str, ...]) -> None:
    (group,) = made(ONE, {"service": {"service_base_url": url}})
    args = container(group, 1)["args"]
    assert tuple(after(args, option)[0] for option in ("-host", "-port", "-scheme", "-refreshScheme")) == expected


def test_the_scheduler_has_the_last_word_over_templates() -> None:
    template = {
        "metadata": {"labels": {"kai.scheduler/queue": "mine", "team": "x"}, "annotations": {"pod-group-name": "mine"}},
        "spec": {"schedulerName": "mine", "priorityClassName": "mine"},
    }
    override = {"pod_templates": {"mine": template}, "pools": {"default": {"common_pod_template": ["mine"]}}}
    (group,) = made(ONE, override)
    pod = group.pods[0]
    assert pod["metadata"]["labels"]["kai.scheduler/queue"] == "osmo-pool-osmo-workflows-default"
    assert pod["metadata"]["labels"]["team"] == "x"
    assert pod["metadata"]["annotations"]["pod-group-name"] != "mine"
    assert (pod["spec"]["schedulerName"], pod["spec"]["priorityClassName"]) == ("kai-scheduler", "mine")


def test_a_login_for_osmos_own_images_is_a_second_pull_secret() -> None:
    login = {"registry": "nvcr.io", "username": "$oauthtoken", "auth": "key"}
    (group,) = made(ONE, {"workflow": {"backend_images": {"credential": login}}})
    names = [item["name"] for item in group.pods[0]["spec"]["imagePullSecrets"]]
    assert [name.rpartition("-")[2] for name in names] == ["user", "osmo"]
    secret = next(item for item in group.objects if item["metadata"]["name"] == names[1])
    auths = json.loads(base64.b64decode(secret["data"][".dockerconfigjson"]))["auths"]
    assert base64.b64decode(auths["nvcr.io"]["auth"]).decode() == "$oauthtoken:key"


def test_rsync_adds_its_options_before_the_users_command() -> None:
    rsync = {"enabled": True, "allowed_paths": {"code": {"path": "/src", "writable": True}, "data": {"path": "/data"}}}
    (group,) = made(ONE, {"workflow": {"plugins_config": {"rsync": rsync}}})
    args = container(group)["args"]
    assert args.index("-enableRsync") < args.index("-commands")
    assert after(args, "-rsyncPathAllowList") == ["code:/src:true,data:/data:false"]
    assert "--enable_rsync" in group.pods[0]["spec"]["initContainers"][0]["args"]


def test_kpis_and_datasets_are_uploaded() -> None:
    text = ONE.replace(
        "command: [x]",
        "command: [x], kpis: [{index: i, path: a/b/k.json}, {index: j, path: k.json}],"
        " outputs: [{update_dataset: {name: 'bkt/d:v1', paths: [p, q], labels: [l]}}]",
    )
    (group,) = made(text, {"dataset": {"buckets": {"bkt": {"dataset_path": "s3://bkt/ds"}}}})
    own = "azure://acct/workflow-data/one-1/t"
    assert after(container(group, 1)["args"], "-outputs") == [
        f"kpi:{own}/a/b,a/b/k.json",
        f"kpi:{own},k.json",
        "update_dataset:bkt/d:v1;p,q;;l",
    ]


def test_an_input_of_an_earlier_workflow_comes_from_its_folder() -> None:
    text = ONE.replace(
        "command: [x]", "command: [x], args: ['{{input:train}}'], inputs: [{task: 'other-3:train', regex: '.*pt'}]"
    )
    (group,) = made(text)
    assert after(container(group, 1)["args"], "-inputs") == ["task:0,azure://acct/workflow-data/other-3/train,.*pt"]
    assert after(container(group)["args"], "-args") == ["/osmo/data/input/0"]


def test_a_mount_that_the_template_makes_is_left_out_and_the_others_keep_their_number() -> None:
    platform = {"allowed_mounts": ["/dev/shm", "/mnt/data"]}  # noqa: S108
    text = ONE.replace("command: [x]", "command: [x], volumeMounts: [/dev/shm, '/mnt/data:/data']")
    (group,) = made(text, {"pools": {"default": {"platforms": {"cpu": platform}}}})
    volumes = [item for item in group.pods[0]["spec"]["volumes"] if item["name"].startswith("host-mount")]
    assert volumes == [{"name": "host-mount-1", "hostPath": {"path": "/mnt/data"}}]


def placed(*requirements: str) -> list[GroupObjects]:
    resources = "".join(
        f"    r{i}: {{platform: h100, gpu: 1, topology: [{text}]}}\n" for i, text in enumerate(requirements)
    )
    tasks = "".join(
        f"    - {{name: t{i}, image: u:1, command: [x], resource: r{i}, lead: {str(not i).lower()}}}\n"
        for i in range(len(requirements))
    )
    keys = [{"key": "zone", "label": "z"}, {"key": "rack", "label": "r"}]
    text = f"workflow:\n  name: w\n  resources:\n{resources}  groups:\n  - name: g\n    tasks:\n{tasks}"
    return made(text, {"pools": {"default": {"topology_keys": keys}}})


def test_tasks_that_part_below_a_shared_zone_are_subgroups() -> None:
    zone = "{key: zone}"
    (group,) = placed(
        f"{zone}, {{key: rack, group: a}}", f"{{key: rack, group: a}}, {zone}", f"{zone}, {{key: rack, group: b}}"
    )
    spec = next(item for item in group.objects if item["kind"] == "PodGroup")["spec"]
    topology = "osmo-pool-osmo-workflows-default-topology"
    assert spec["topologyConstraint"] == {"requiredTopologyLevel": "z", "topology": topology}
    assert "minMember" not in spec
    constraint = {"requiredTopologyLevel": "r", "topology": topology}
    assert spec["subGroups"] == [
        {"name": "default-a", "minMember": 2, "topologyConstraint": constraint},
        {"name": "default-b", "minMember": 1, "topologyConstraint": constraint},
    ]
    labels = [pod["metadata"]["labels"]["kai.scheduler/subgroup-name"] for pod in group.pods]
    assert labels == ["default-a", "default-a", "default-b"]


NESTED = (
    "{key: zone, group: a}, {key: rack, group: a}",
    "{key: zone, group: a}, {key: rack, group: b}",
    "{key: zone, group: b}, {key: rack, group: a}",
)
"""Apart on two levels: zone a has two racks."""


def test_kai_refuses_what_osmo_makes_of_tasks_that_are_apart_on_two_levels() -> None:
    """As genuine code does: OSMO 6.3.1 src/utils/job/topology.py, KAI v0.17.0 podgroup_webhook.go."""
    for requirements, words in ((NESTED, 'subgroup "a": minMember cannot be set'), (NESTED[:2], "")):
        (group,) = placed(*requirements)
        made_group = next(item for item in group.objects if item["kind"] == "PodGroup")
        refusal, _ = group_problems(made_group, is_update=False)
        assert words in refusal if words else refusal == ""


def test_a_preference_is_no_requirement() -> None:
    (group,) = placed("{key: rack, requirementType: preferred}", "{key: rack, requirementType: preferred}")
    spec = next(item for item in group.objects if item["kind"] == "PodGroup")["spec"]
    assert spec["topologyConstraint"]["preferredTopologyLevel"] == "r"
    assert spec["minMember"] == 2


def test_different_keys_are_refused() -> None:
    with pytest.raises(Refusal) as refused:
        placed("{key: zone}", "{key: rack}")
    assert refused.value.kind == "OSMOResourceError"


def test_without_storage_no_pod_is_made() -> None:
    with pytest.raises(Refusal) as refused:
        made(ONE, {"workflow": {"workflow_data": {"credential": None}}})
    assert refused.value.kind == "OSMOServerError"


def test_the_same_file_gives_the_same_objects() -> None:
    assert made(TWO) == made(TWO)


ENVIRONMENT = """workflow:
  name: one
  tasks:
  - name: t
    image: u:1
    command: [x]
    environment: {LONGEST: '1', B: '2', é: '3', AA: '4', A: $(AA)}
"""


def test_variables_come_in_the_order_in_which_the_database_has_them() -> None:
    """By length in bytes, then by bytes: so `$(AA)` is not expanded, as AA comes later."""
    (group,) = made(ENVIRONMENT)
    names = [each["name"] for each in container(group)["env"] if "_" not in each["name"]]
    assert names == ["A", "B", "AA", "é", "LONGEST"]


BUCKET = {"dataset_path": "s3://lake/data", "default_credential": {"access_key_id": "id", "access_key": "key"}}


def test_the_key_of_a_bucket_is_in_a_secret_of_every_task() -> None:
    """Its endpoint is that of the bucket, as OSMO fills it in."""
    (group,) = made(ONE, {"dataset": {"buckets": {"lake": BUCKET}}})
    (file,) = [each for each in group.of(("Secret",)) if "user_config.yaml" in each["data"]]
    config = yaml.safe_load(base64.b64decode(file["data"]["user_config.yaml"]))
    own = {"endpoint": "s3://lake", "region": "us-east-1", "access_key_id": "id", "access_key": "key"}
    assert config == {"auth": {"data": {"s3://lake": own}}}


DATA = "workflow:\n  name: one\n  tasks:\n  - {name: t, image: u:1, command: [x], %s: [{dataset: {name: %s}}]}\n"


def buckets(mode: str = "read-write", default: str = "lake") -> dict[str, Any]:
    bucket = {"dataset_path": "s3://lake/data", "mode": mode}
    return {"dataset": {"default_bucket": default, "buckets": {"lake": bucket}}}


def test_a_dataset_without_a_bucket_is_one_of_the_default_bucket() -> None:
    (group,) = made(DATA % ("inputs", "d"), buckets())
    assert after(container(group, 1)["args"], "-inputs") == ["dataset:0,lake/d,"]
    (file,) = [each for each in group.of(("Secret",)) if "default_metadata.yaml" in each["data"]]
    assert b"lake/d" in base64.b64decode(file["data"]["default_metadata.yaml"])


@pytest.mark.parametrize(
    ("place", "name", "override", "kind", "reason"),
    [
        ("inputs", "d", buckets(default=""), "OSMOUserError", "names no bucket"),
        ("inputs", "sea/d", buckets(), "OSMOServerError", "no bucket 'sea'"),
        ("outputs", "d", buckets("read-only"), "OSMOUsageError", "cannot be written"),
        ("inputs", "d", buckets("write-only"), "OSMOUsageError", "cannot be read"),
    ],
)
def test_a_bucket_that_cannot_be_used_is_refused(place: str, name: str, override: Any, kind: str, reason: str) -> None:
    with pytest.raises(Refusal, match=reason) as refused:
        made(DATA % (place, name), override)
    assert refused.value.kind == kind
    assert made(DATA % ("inputs", "d"), buckets("read-only"))


def test_an_address_that_a_token_makes_invalid_is_refused_where_the_worker_reads_it() -> None:
    text = "workflow:\n  name: one\n  tasks:\n  - {name: t, image: u:1, command: [x], outputs: [{url: '%s'}]}\n"
    assert made(text % "s3://b/{{workflow_id}}/data")
    with pytest.raises(Refusal, match="becomes 's3://b/one-1//osmo/data/output'"):
        made(text % "s3://b/{{workflow_id}}/{{output}}")


def test_a_value_with_nul_is_refused_as_the_database_refuses_it() -> None:
    with pytest.raises(Refusal, match="NUL") as refused:
        made(ENVIRONMENT.replace("'1'", '"\\0"'))
    assert refused.value.kind == "OSMODatabaseError"


def test_a_name_that_is_a_number_is_no_name() -> None:
    with pytest.raises(Refusal, match="the name inf is a number"):
        made(ONE.replace("name: t", "name: .inf"))


def test_a_group_with_an_invalid_name_is_refused_for_its_name() -> None:
    with pytest.raises(Refusal) as refused:
        made(TWO.replace("name: g\n", "name: 'g g'\n"))
    assert refused.value.kind == "OSMOUsageError"


@pytest.mark.parametrize("priority", ["HIGH", "NORMAL", "LOW"])
def test_a_priority_has_its_class(priority: str) -> None:
    config = configured(None)
    submission = replace(submit(ONE, config), priority=priority)
    (group,) = make_all(submission, config, generated_run(submission))
    (of_group,) = group.of(("PodGroup",))
    assert of_group["spec"]["priorityClassName"] == f"osmo-{priority.lower()}"
    assert group.pods[0]["metadata"]["labels"]["osmo.priority"] == priority.lower()
