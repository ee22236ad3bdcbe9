"""Kernels that several families of measures share: arrays in, arrays out, no frames."""
