"""Kubernetes resources that other components depend on: charts, namespaces, isolation, certificates, snapshots."""
