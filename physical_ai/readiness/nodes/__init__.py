"""Facts about one GPU node besides its gates: signs, and the causes that they indicate."""
