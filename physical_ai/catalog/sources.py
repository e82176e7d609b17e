"""Paths of the catalogue's files, as findings cite them."""

_DATA = "physical_ai/catalog/data"

SIZES = f"{_DATA}/vm_sizes.yaml"
REGIONS = f"{_DATA}/regions.yaml"
KUBERNETES = f"{_DATA}/kubernetes.yaml"
RELEASES = f"{_DATA}/gpu/operator_releases.yaml"
DRIVERS = f"{_DATA}/gpu/drivers.yaml"
