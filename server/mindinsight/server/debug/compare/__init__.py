"""Two dumps side by side: which tensors belong together, how far apart they are, who is to blame."""
