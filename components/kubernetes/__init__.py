"""What other Kubernetes resources stand on: charts, namespaces, isolation, certificates, snapshots."""
