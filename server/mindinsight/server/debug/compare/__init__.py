"""Comparison of two dumps: matching of tensors, error measures, verdicts on operators."""
