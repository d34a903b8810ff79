"""The smallest stand-in for launch and launch_ros: runs a launch file as far as the processes that it would start.

It knows only what our launch files use, and fails where they use an argument that nobody declared or a class that it lacks.
"""

import importlib.util
import sys
import types
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Context:
    configurations: dict
    declared: dict = field(default_factory=dict)
    used: set = field(default_factory=set)
    processes: list = field(default_factory=list)
    given: dict = field(default_factory=dict)


@dataclass
class DeclareLaunchArgument:
    name: str
    default_value: str
    description: str = ""
    choices: tuple = ()

    def visit(self, context):
        assert isinstance(self.default_value, str), f"{self.name}: a default is a text"
        context.declared[self.name] = self
        value = context.configurations.setdefault(self.name, self.default_value)
        assert not self.choices or value in self.choices, f"{self.name}: '{value}' is none of {self.choices}"


@dataclass
class LaunchConfiguration:
    name: str

    def perform(self, context):
        assert self.name in context.declared, f"'{self.name}' is used but not declared"
        context.used.add(self.name)
        return context.configurations[self.name]


@dataclass
class ParameterValue:
    value: object
    value_type: type

    def perform(self, context):
        text = text_of(self.value, context)
        return text == "true" if self.value_type is bool else self.value_type(text)


@dataclass
class IfCondition:
    predicate: object


@dataclass
class ExecutableInPackage:
    executable: str
    package: str


@dataclass
class Shutdown:
    reason: str


class ExecuteProcess:
    kind = "process"

    def __init__(self, condition=None, **kwargs):
        self.condition, self.kwargs = condition, kwargs

    def visit(self, context):
        if self.condition is None or text_of(self.condition.predicate, context) == "true":
            context.processes.append((self.kind, {key: text_of(value, context) for key, value in self.kwargs.items()}))


class Node(ExecuteProcess):
    kind = "node"


class LifecycleNode(Node):
    kind = "lifecycle node"


@dataclass
class OpaqueFunction:
    function: object

    def visit(self, context):
        visit_all(self.function(context), context)


@dataclass
class GroupAction:
    actions: list
    scoped: bool = True

    def visit(self, context):
        before = dict(context.configurations)
        visit_all(self.actions, context)
        if self.scoped:
            context.configurations = before


@dataclass
class PythonLaunchDescriptionSource:
    path: str


@dataclass
class IncludeLaunchDescription:
    source: PythonLaunchDescriptionSource
    launch_arguments: object = ()

    def visit(self, context):
        for name, value in self.launch_arguments:
            context.configurations[name] = text_of(value, context)
        visit_all(load(self.source.path).generate_launch_description().entities, context)


@dataclass
class LaunchDescription:
    entities: list


def text_of(value, context):
    if hasattr(value, "perform"):
        return value.perform(context)
    if isinstance(value, dict):
        return {key: text_of(entry, context) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [text_of(entry, context) for entry in value]
    return value


def visit_all(entities, context):
    for entity in entities:
        entity.visit(context)


def load(path):
    spec = importlib.util.spec_from_file_location(Path(path).name.split(".", maxsplit=1)[0] + "_launch", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MODULES = {
    "launch": (LaunchDescription,),
    "launch.actions": (DeclareLaunchArgument, ExecuteProcess, GroupAction, IncludeLaunchDescription, OpaqueFunction, Shutdown),
    "launch.conditions": (IfCondition,),
    "launch.launch_description_sources": (PythonLaunchDescriptionSource,),
    "launch.substitutions": (LaunchConfiguration,),
    "launch_ros": (),
    "launch_ros.actions": (LifecycleNode, Node),
    "launch_ros.parameter_descriptions": (ParameterValue,),
    "launch_ros.substitutions": (ExecutableInPackage,),
}


def install(monkeypatch):
    """Put the stand-in in the place of both packages for one test."""
    for name, classes in MODULES.items():
        module = types.ModuleType(name)
        for one in classes:
            setattr(module, one.__name__, one)
        monkeypatch.setitem(sys.modules, name, module)


def run(path, **arguments):
    """Context after `ros2 launch path name:=value ...`."""
    context = Context({name: str(value) for name, value in arguments.items()}, given=arguments)
    visit_all(load(path).generate_launch_description().entities, context)
    unknown = set(arguments) - set(context.declared)
    assert not unknown, f"no such argument: {unknown}"
    return context
