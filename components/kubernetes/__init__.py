"""What other Kubernetes resources depend on: charts, namespaces, isolation, certificates, snapshots."""
