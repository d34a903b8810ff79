"""The only place that imports rclpy: node, parameters, conversions, outputs, fake arm, recorder."""
