"""Formats of weights: MindSpore checkpoints, safetensors, PyTorch files, pickles without execution."""
