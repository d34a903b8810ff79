"""Errors raised at set-up. At run time the core returns a Status instead."""


class MimicIKError(Exception):
    """Base class: the message is one line that names what is wrong and the remedy."""


class ConfigError(MimicIKError):
    """A configuration value is unknown, of the wrong type or out of its range."""


class RobotError(MimicIKError):
    """The URDF is missing, broken or lacks a joint or frame that was named."""


class ModelError(MimicIKError):
    """The ONNX model is missing, broken or was trained for another robot."""


class ProviderError(MimicIKError):
    """The execution provider that was asked for cannot be had."""


class StreamError(MimicIKError):
    """A file of targets is missing, empty or malformed."""


class DataError(MimicIKError):
    """A dataset is missing, damaged or of another robot, or nothing of what was to be brought in is usable."""
