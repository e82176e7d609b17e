"""What is known of one GPU node, beside its gates: signs, and the causes that they speak for."""
