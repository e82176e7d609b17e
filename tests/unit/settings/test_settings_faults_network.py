"""Addresses, subnets and ranges that cannot work."""

from __future__ import annotations

from tests.support.cases import in_one_test
from tests.unit.settings.settings_faults import expect, faults_of, paths, warned

ADDRESSES = [
    ("network.addressSpace=52.0.0.0/16", "network.addressSpace", "not private", "10.0.0.0/8"),
    ("pools.h100gpu.subnet=10.99.0.0/26", "pools.h100gpu.subnet", "outside network.addressSpace", "10.40.1.0/26"),
    ("pools.h100gpu.subnet=10.40.2.0/26", "pools.h100gpu.subnet", "overlap", "10.40.1.0/26 is free"),
    ("pools.h100gpu.subnet=10.40.0.128/26", "pools.h100gpu.subnet", "overlap", "10.40.1.0/26 is free"),
    ("pools.h100gpu.subnet=10.40.1.0/30", "pools.h100gpu.subnet", "too small", "/29"),
    ("pools.h100gpu.scale.max=60", "pools.h100gpu.scale", "takes 65", "/25"),
    ("network.systemSubnet=10.40.0.0/29", "network.systemSubnet", "takes 11", "/28"),
    ("network.podCidr=10.40.0.0/16", "network.podCidr", "overlap", "is free"),
    ("network.serviceCidr=10.244.0.0/24", "network.serviceCidr", "overlap", "is free"),
    ("network.serviceCidr=172.30.0.0/16", "network.serviceCidr", "AKS reserves", "another"),
    ("network.serviceCidr=172.31.16.0/20", "network.serviceCidr", "AKS reserves", "another"),
    ("network.serviceCidr=10.0.0.0/9", "network.serviceCidr", "at most a /12", "/16"),
    ("network.serviceCidr=10.245.0.0/29", "network.serviceCidr", "too small", "/16"),
    ("network.dnsServiceIp=10.245.0.1", "network.dnsServiceIp", "API server", "10.245.0.10"),
    ("network.dnsServiceIp=10.9.0.10", "network.dnsServiceIp", "outside network.serviceCidr", "10.245.0.10"),
    ("network.dnsServiceIp=10.245.255.255", "network.dnsServiceIp", "last address", "10.245.0.10"),
    ("network.podCidr=10.244.0.0/22", "network.podCidr", "has 4 blocks", "/20"),
    ("network.podCidr=10.244.0.0/25", "network.podCidr", "has 0 blocks", "/20"),
]


@in_one_test(("assignment", "path", "problem", "fix"), ADDRESSES)
def test_addresses_that_cannot_work(assignment: str, path: str, problem: str, fix: str) -> None:
    expect(faults_of(assignment), path, problem, fix)


def test_when_the_address_space_moves_the_subnets_are_not_blamed_in_the_stack_file() -> None:
    assert set(paths(faults_of("network.addressSpace=10.60.0.0/16"))) == {"network.addressSpace"}


def test_shared_address_space_may_hold_pods() -> None:
    assert not warned("network.podCidr=100.64.0.0/16")
