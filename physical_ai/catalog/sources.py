"""Paths of the catalogue's data files, relative to the checkout: findings name them as their source."""

_DATA = "physical_ai/catalog/data"

SIZES = f"{_DATA}/vm_sizes.yaml"
REGIONS = f"{_DATA}/regions.yaml"
KUBERNETES = f"{_DATA}/kubernetes.yaml"
RELEASES = f"{_DATA}/gpu/operator_releases.yaml"
DRIVERS = f"{_DATA}/gpu/drivers.yaml"
