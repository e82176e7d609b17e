"""AMD's GPU Operator, for pools of AMD's GPUs."""
