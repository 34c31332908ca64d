"""Points and risks as torch tensors, on the CPU or on a GPU; needs torch."""
