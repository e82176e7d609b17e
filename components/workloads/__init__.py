"""Other users of the node pools: Slurm, and runners of the pipelines."""
