"""Figures of the modelled GPUs."""
