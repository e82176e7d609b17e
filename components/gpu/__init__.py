"""Components that make the GPUs of a node usable: operators, drivers, their configuration, and admission of Pods."""
