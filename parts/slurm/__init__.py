"""A Slurm cluster on GPU pools of its own, by SchedMD's operator."""
