"""The tick and everything it needs: numpy, pinocchio and onnxruntime only (no rclpy, no torch)."""
