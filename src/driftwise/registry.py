"""Registries of learners, detectors, adversaries, paths and noises. Tests, documentation and CLI read them.

A member is equal to the one that `Registry.build` makes from its spec, a mapping of plain values. `spec_text` is the
one form in which equal specs are equal, for keys, files and comparisons.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.metadata
import json
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any, ClassVar, Generic, TypeVar, cast

import numpy as np

from driftwise.core.errors import InvalidInput, UnknownName, message_of, rejection, shown
from driftwise.core.validation import Domains

ENTRY_POINTS = "driftwise.learners"  # the group under which a package names modules that register classes
_MANY = 24  # of more names than these, as there are learners, an error does not list all
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_OWN = "driftwise."  # the start of the names of the modules of driftwise
_loaded_plugins: list[str] = []


class Registered:
    """Base class of what a registry holds: a kind, a name and a version."""

    kind: ClassVar[str]  # set by `Registry.add`, as in "learner"
    name: ClassVar[str]  # set by the decorator that registers the class
    # Stored results are valid for one version. A class writes `version = 2` into its body, without an annotation, in
    # the change that alters its plays (a learner's weights, actions, tuning or bound; a path's means; a noise's losses;
    # an adversary's environments; a detector's alarms). Faster code with the same plays keeps the version.
    version: ClassVar[int] = 1
    _domains: ClassVar[Domains] = {}  # of the parameters

    def __post_init__(self) -> None:
        for name, domain in self._domains.items():
            domain(self, name)

    def inner_members(self) -> list[Registered]:
        """Return the members that it holds: those in its fields; a class with a field for a name adds that member."""
        return _in_fields(self)


C = TypeVar("C", bound=Registered)
T = TypeVar("T", bound=type[Registered])


def load_plugins() -> None:
    """Import the modules that installed packages name under the entry points `driftwise.learners`, once.

    They register their learners, and any paths, noises, detectors and adversaries. What cannot be imported is reported
    and left out. What a module prints goes to standard error: standard output may be a table or JSON.
    """
    if _loaded_plugins:
        return
    _loaded_plugins.append(ENTRY_POINTS)  # first: such a module may read a registry itself
    faults: list[str] = []
    for entry in _entry_points(faults):
        before = [{*registry._classes} for registry in _registries]
        try:
            with contextlib.redirect_stdout(sys.stderr):
                loaded = entry.load()
            if not isinstance(loaded, ModuleType) and "kind" not in getattr(loaded, "__dict__", {}):
                raise rejection("Registry", "entry point", "a module, or a class that it registers", loaded)
        except BaseException as error:  # whatever the module of another package raises, such as `SystemExit`
            if isinstance(error, KeyboardInterrupt):
                raise
            _drop_unfinished(before)
            reason = message_of(error).rstrip(".")
            faults.append(f"The entry point {entry.name} = {entry.value}{_package(entry)} was left out: {reason}.")
    for fault in faults:  # at the end: a filter may make errors of warnings
        warnings.warn(fault, stacklevel=2)


def _entry_points(faults: list[str]) -> Iterable[importlib.metadata.EntryPoint]:
    """Return the entry points of all packages; one whose list cannot be read is left out and added to `faults`."""
    try:
        return importlib.metadata.entry_points(group=ENTRY_POINTS)
    except Exception:  # for one such package
        pass
    entries: list[importlib.metadata.EntryPoint] = []
    for package in importlib.metadata.distributions():
        try:
            entries += package.entry_points.select(group=ENTRY_POINTS)
        except Exception as error:
            reason = message_of(error).rstrip(".")
            faults.append(f"The entry points of the package {package.name} were left out: {reason}.")
    return entries


def _package(entry: importlib.metadata.EntryPoint) -> str:
    """Return the name of the package of an entry point, for a message; "" if it has none."""
    try:
        name = entry.dist.name if entry.dist else None
    except Exception:  # its metadata cannot be read
        name = None
    return f" of the package {name}" if name else ""


def _drop_unfinished(before: list[set[str]]) -> None:
    """Drop the new classes of modules whose import failed; `before` are the names in each registry."""
    for registry, names in zip(_registries, before, strict=False):  # a module may make a registry
        for name, member in [*registry._classes.items()]:
            if name not in names and member.__module__ not in sys.modules:
                del registry._classes[name]


_registries: list[Registry[Any]] = []


class Registry(Generic[C]):
    """Classes of one kind by name; each is a frozen dataclass, so that a spec of plain values can rebuild it."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._classes: dict[str, type[C]] = {}
        _registries.append(self)

    def add(self, name: str, member: T) -> T:
        """Register a class under a kebab-case name."""
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise rejection("Registry", "name", "lower-case words joined by hyphens, as in 'epsilon-greedy'", name)
        if not isinstance(member, type) or not issubclass(member, Registered):
            raise rejection("Registry", "member", f"a subclass of the base class of every {self.kind}", member)
        if getattr(member, "kind", self.kind) != self.kind:
            raise InvalidInput(f"The {member.kind} {member.__name__} cannot be registered as a {self.kind}.")
        for other, registered in self._classes.items():
            if registered is member and other != name:
                raise InvalidInput(f"{member.__name__} is registered as '{other}' and cannot be '{name}' too.")
        taken: type[Registered] = self._classes.get(name, member)
        is_again = (taken.__module__, taken.__qualname__) == (member.__module__, member.__qualname__)
        if taken is not member and (not is_again or taken.__module__.startswith(_OWN)):  # a cell may run twice
            where = f" of the module {taken.__module__}" if taken.__name__ == member.__name__ else ""
            raise InvalidInput(f"The {self.kind} name '{name}' is taken by {taken.__name__}{where}.")
        member.kind, member.name = self.kind, name
        self._classes[name] = cast("type[C]", member)
        return member

    def find(self, name: str) -> type[C] | None:
        """Return the class with this name, None if there is none; installed packages may add one."""
        if name not in self._classes:
            load_plugins()
        return self._classes.get(name)

    def get(self, name: str) -> type[C]:
        """Return the class with this name; raise `UnknownName` with the nearest name if there is none."""
        member = self.find(name) if isinstance(name, str) else None
        if member is None:
            listing = "`driftwise list` has all names." if len(self._classes) > _MANY else ""
            raise UnknownName(self.kind, str(name), self._classes, listing=listing)
        return member

    def build(self, spec: Mapping[str, Any]) -> C:
        """Make a member from a spec such as ``{"name": "bernoulli"}``."""
        values = dict(spec) if isinstance(spec, Mapping) else {}
        name = values.pop("name", None)
        if not isinstance(name, str):
            raise InvalidInput(f"A {self.kind} spec must have a `name`, got {shown(spec)}.")
        member = self.get(name)
        fields = {field.name: field for field in dataclasses.fields(member) if field.init}  # type: ignore[arg-type]
        for parameter in values:
            if parameter not in fields:
                raise UnknownName("parameter", parameter, fields, f"of the {self.kind} '{name}'")
        required = (key for key, f in fields.items() if f.default is f.default_factory is dataclasses.MISSING)
        if missing := [f"`{key}`" for key in required if key not in values]:
            raise InvalidInput(f"The {self.kind} '{name}' needs {' and '.join(missing)}.")
        return member(**values)

    def __iter__(self) -> Iterator[str]:
        load_plugins()
        return iter(sorted(self._classes))

    def __len__(self) -> int:
        load_plugins()
        return len(self._classes)

    def member(self, owner: object, name: str, value: Any) -> C:
        """Return a member, given as itself, as its spec, or by its name."""
        if isinstance(value, str):
            return self.build({"name": value})
        if isinstance(value, Mapping):
            return self.build(value)
        if type(value) not in self._classes.values():
            raise rejection(owner, name, f"a {self.kind}, its name or its spec", value)
        return cast(C, value)


def to_spec(member: Any) -> dict[str, Any]:
    """Return plain values from which `Registry.build` makes an equal member; None by default is left out."""
    spec = {"name": member.name}
    for f in dataclasses.fields(member):
        value = getattr(member, f.name)
        if f.init and not (value is None and f.default is None):
            plain = value.item() if isinstance(value, np.generic) else value  # NumPy's numbers are not written to files
            spec[f.name] = to_spec(value) if hasattr(value, "name") else plain
    return spec


def versions(member: Any) -> dict[str, int]:
    """Return the version of every registered class in a member or an environment, by kind and name.

    >>> from driftwise.learners import SAOL
    >>> versions(SAOL(base="optimistic-gd"))
    {'learner optimistic-gd': 1, 'learner saol': 1}
    """
    if isinstance(member, type) or not dataclasses.is_dataclass(member):
        raise rejection("versions", "member", "a member of a registry or an environment", member)
    parts = list(_registered_parts(member))
    for part in parts:
        if "kind" not in vars(type(part)):  # its inherited name is that of another class, with other plays
            raise InvalidInput(f"versions: {type(part).__name__} must be registered, only its base class is.")
    return dict(sorted((f"{part.kind} {part.name}", part.version) for part in parts))


def modules(member: Any) -> set[str]:
    """Return the modules of every registered class in a member or an environment.

    >>> from driftwise.learners import SAOL
    >>> sorted(modules(SAOL(base="ada-hedge")))
    ['driftwise.learners.experts.ada_hedge', 'driftwise.learners.meta.saol']
    """
    return {type(part).__module__ for part in _registered_parts(member)}


def _registered_parts(member: Any) -> Iterator[Registered]:
    """Yield the members in a member or an environment, itself included, however nested."""
    if isinstance(member, Registered):
        yield member
    for inner in member.inner_members() if isinstance(member, Registered) else _in_fields(member):
        yield from _registered_parts(inner)


def _in_fields(member: Any) -> list[Registered]:
    values = (getattr(member, field.name) for field in dataclasses.fields(member))
    return [value for value in values if isinstance(value, Registered)]


def spec_text(spec: Mapping[str, Any]) -> str:
    """Return a spec as JSON with sorted keys and no spaces; a tuple equals the list that a file has in its place.

    >>> spec_text({"name": "table", "means": ((0.5, 1.0),)})
    '{"means":[[0.5,1.0]],"name":"table"}'
    """
    try:
        return json.dumps(spec, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput(f"A spec must consist of plain values, got {shown(spec)}.") from None


def plain(value: Any) -> Any:
    """Return a value with lists in place of tuples and `dict` in place of other mappings, as a JSON file gives it."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def is_unicode(text: str) -> bool:
    """Return whether a text can be written to a file; half of a surrogate pair, as in names of files, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
