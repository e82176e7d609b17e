"""Objects of a workflow beyond what is recorded whole: hosts, queues, places, plugins, registries, mounts."""

from __future__ import annotations

import base64
import json
from itertools import pairwise
from typing import Any

import pytest

from physical_ai.osmo.pods.objects import GroupObjects, generated_run, make_all
from physical_ai.osmo.refusal import Refusal
from tests.support.osmo_recordings import configured, submit

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
