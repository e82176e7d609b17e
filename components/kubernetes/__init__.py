"""Kubernetes resources that others depend on: charts, namespaces, isolation, certificates, snapshots."""
