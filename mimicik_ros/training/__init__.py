"""Data synthesis, network, objective, training loop and ONNX export (extra: train)."""
