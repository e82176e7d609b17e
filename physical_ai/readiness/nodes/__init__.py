"""Facts about one GPU node besides its gates: signs of faults, and the causes that they indicate."""
