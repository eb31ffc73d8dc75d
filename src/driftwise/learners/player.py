"""Players: which learner plays, and whether its parameters are given or come from a tuning rule, as plain values.

`simulate`, the command line, TOML files, results and sweeps all describe their learners by players. A player has a spec
of plain values that rebuilds it, so it can be written to a file, compared, and sent to another process.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from driftwise.core.errors import InvalidInput, UnknownName, one_line, rejection, shown
from driftwise.core.measures import Measures, collected
from driftwise.learners.base import Learner, learners
from driftwise.registry import modules, plain, spec_text, to_spec, versions

TUNED_TO = ("measures", "rounds", "budget")


@dataclass(frozen=True, repr=False)
class Player:
    """A learner with given parameters, or one whose parameters a tuning rule sets in each run.

    Parameters
    ----------
    name : str
        The name of the learner in the registry, such as "optimistic-gd".
    tuned : {"measures", "rounds", "budget"} or None, default None
        What the tuning rule is given. "measures": the measures of the run. "rounds": the numbers of actions and rounds
        only, with the measures of a constant environment. "budget": the budget of the adversary whose environment it
        is; in other environments the measures. None: there is no tuning, and `settings` are the parameters.
    settings : dict, default {}
        Parameters of the learner. If it is tuned: options of the rule, and parameters that replace those it sets.

    Examples
    --------
    >>> from driftwise.learners import OptimisticGD
    >>> Player("optimistic-gd", settings={"learning_rate": 0.3}) == Player.of(OptimisticGD(learning_rate=0.3))
    True
    >>> Player.of(OptimisticGD.tuned)
    Player('optimistic-gd', tuned='measures')
    >>> Player("optimistic-gd", "rounds", {"rule": "sharp"}).spec
    {'name': 'optimistic-gd', 'tuned': 'rounds', 'rule': 'sharp'}
    """

    name: str = field(compare=False)
    tuned: str | None = field(default=None, compare=False)
    settings: Mapping[str, object] = field(default_factory=dict, compare=False)
    text: str = field(init=False, default="")  # the spec as text: equal players have equal texts
    _fixed: Learner | None = field(init=False, default=None, compare=False)

    def __post_init__(self) -> None:
        kind = learners.get(self.name)
        if not isinstance(self.settings, Mapping) or not all(isinstance(key, str) for key in self.settings):
            raise rejection("Player", "settings", "a dictionary with text for keys", self.settings)
        if "name" in self.settings:
            raise UnknownName("parameter", "name", [], f"of '{self.name}'")
        if self.tuned is None:
            learner = learners.build({**self.settings, "name": self.name})
            settings = {key: value for key, value in to_spec(learner).items() if key != "name"}
            object.__setattr__(self, "_fixed", learner)
        elif self.tuned in TUNED_TO:
            _check_rule(kind, self.settings)
            settings = dict(self.settings)
        else:
            raise rejection("Player", "tuned", f"None or one of {', '.join(map(repr, TUNED_TO))}", self.tuned)
        object.__setattr__(self, "settings", plain(settings))
        object.__setattr__(self, "text", spec_text(self.spec))

    @classmethod
    def of(cls, value: object) -> Player:
        """Return the player of a learner, of a rule such as `OptimisticGD.tuned` or a partial of it, or of a spec."""
        if isinstance(value, Player):
            return value
        if isinstance(value, Learner):
            _check_registered(type(value))
            return cls.from_spec(to_spec(value))
        if isinstance(value, Mapping):
            return cls.from_spec(value)
        if (rule := tuning_rule(value)) is not None:
            kind, options = rule
            _check_registered(kind)
            return cls(kind.name, "measures", options)
        hint = f" Write {value.__name__}()." if isinstance(value, type) and issubclass(value, Learner) else ""
        wanted = "a learner, `X.tuned` of a learner X, or a Player"
        raise InvalidInput(f"A player must be {wanted}, got {shown(value)}.{hint}")

    @classmethod
    def from_spec(cls, spec: Mapping[str, object]) -> Player:
        """Make a player from plain values: `name`, the parameters, and `tuned` (true means "measures")."""
        if not isinstance(spec, Mapping) or not isinstance(name := spec.get("name"), str):
            raise InvalidInput(f"A learner spec must have a `name`, got {shown(spec)}.")
        tuned = spec.get("tuned")
        if isinstance(tuned, bool):
            tuned = "measures" if tuned else None
        if not (tuned is None or (isinstance(tuned, str) and tuned in TUNED_TO)):
            rule = f"true, false, {', '.join(map(repr, TUNED_TO))}"
            raise rejection(f"learner '{one_line(name)}'", "tuned", rule, tuned)
        return cls(name, tuned, {key: value for key, value in spec.items() if key not in ("name", "tuned")})

    @property
    def spec(self) -> dict[str, object]:
        """Plain values from which `from_spec` makes an equal player."""
        tuned = {} if self.tuned is None else {"tuned": self.tuned}
        return {"name": self.name, **tuned, **self.settings}

    @property
    def kind(self) -> type[Learner]:
        """The class of the learner."""
        return learners.get(self.name)

    @property
    def versions(self) -> dict[str, int]:
        """The versions of the classes that its plays depend on: the learner, and those that it is made of."""
        return {f"learner {self.name}": self.kind.version, **(versions(self._example) if self._example else {})}

    @property
    def modules(self) -> set[str]:
        """The modules of these classes, which another process must import."""
        return {self.kind.__module__} | (modules(self._example) if self._example else set())

    @functools.cached_property
    def _example(self) -> Learner | None:
        """The learner; if a rule makes it, that of a short constant run, or None if the rule rejects such a run."""
        if self._fixed is not None:
            return self._fixed
        constant = Measures(2, 1000, 1, 0.0, 0.0, change_points=())
        try:
            with collected():
                return self.learner(2, 1000, constant, constant)
        except Exception:  # whatever a rule of the user raises
            return None

    @property
    def label(self) -> str:
        """The name and the parameters that differ from the defaults.

        >>> from driftwise.learners import FixedShare, Hedge
        >>> [Player.of(member).label for member in (Hedge(), Hedge(learning_rate=0.25), FixedShare.tuned)]
        ['hedge', 'hedge(learning_rate=0.25)', 'fixed-share (tuned)']
        """
        if self._fixed is not None:
            return self._fixed.label
        tuned = "tuned" if self.tuned == "measures" else f"tuned to {self.tuned}"
        return f"{self.name} ({', '.join([tuned, *(f'{key}={value}' for key, value in self.settings.items())])})"

    def learner(
        self, n_actions: int, n_rounds: int, measures: Measures | None = None, budget: Measures | None = None
    ) -> Learner:
        """Return the learner of a run; `budget` is that of the adversary, if there is one."""
        if self._fixed is not None:
            return self._fixed
        basis = Measures(n_actions, n_rounds, 1, 0.0, 0.0) if self.tuned == "rounds" else measures
        if self.tuned == "budget" and budget is not None:
            basis = budget
        if basis is None:
            raise InvalidInput(f"'{self.label}' needs measures for its tuning, but replayed losses have none.")
        options = _options(self.kind)
        made: object = self.kind.tuned(basis, **{key: self.settings[key] for key in self.settings if key in options})
        if not isinstance(made, Learner):
            raise InvalidInput(f"'{self.label}' must make a learner, got {shown(made)}.")
        replaced = {key: value for key, value in self.settings.items() if key not in options}
        return dataclasses.replace(made, **replaced) if replaced else made  # type: ignore[type-var]

    @property
    def needs_measures(self) -> bool:
        """Whether the measures of a run must be known before its first round."""
        return self.tuned in ("measures", "budget")

    def __repr__(self) -> str:
        tuned = [] if self.tuned is None else [f"tuned={self.tuned!r}"]
        return f"Player({', '.join([repr(self.name), *tuned, *(f'{k}={v!r}' for k, v in self.settings.items())])})"

    def __reduce__(self) -> tuple[object, ...]:
        return Player, (self.name, self.tuned, self.settings)


#: what functions that play learners take: a learner, a rule such as `OptimisticGD.tuned`, or a player
AnyPlayer = Learner | Player | Callable[[Measures], Learner]


def tuning_rule(value: object) -> tuple[type[Learner], Mapping[str, object]] | None:
    """Return the class and the options of a rule such as `OptimisticGD.tuned` or a partial of it, else None."""
    options: Mapping[str, object] = {}
    if isinstance(value, functools.partial) and not value.args:
        options, value = value.keywords, value.func
    owner = getattr(value, "__self__", None)
    if not isinstance(owner, type) or not issubclass(owner, Learner) or value != owner.tuned:
        return None
    return owner, options


def _check_registered(kind: type[Learner]) -> None:
    name = getattr(kind, "name", None)  # a class that is not registered may have that of its base class, or none
    holder = None if name is None else learners.find(name)
    if holder is not kind:
        if holder is not None and (holder.__module__, holder.__qualname__) == (kind.__module__, kind.__qualname__):
            raise InvalidInput(f"{kind.__name__} was defined again after this learner was made; make it again.")
        raise InvalidInput(f"{kind.__name__} is not registered, so its spec could not rebuild it.")


def has_tuning_rule(kind: type[Learner]) -> bool:
    """Return whether a class has a rule that makes a learner from measures."""
    return kind.tuned.__func__ is not Learner.tuned.__func__  # type: ignore[attr-defined]


def _options(kind: type[Learner]) -> list[str]:
    """Return the names of the options of a class's tuning rule."""
    return [name for name in inspect.signature(kind.tuned).parameters if name != "measures"]


def _check_rule(kind: type[Learner], settings: Mapping[str, object]) -> None:
    """Reject a class without a rule, and settings that are neither options of the rule nor parameters."""
    if not has_tuning_rule(kind):
        raise InvalidInput(f"{kind.__name__}: it has no rule for tuning; give its parameters.")
    names = {*_options(kind), *(f.name for f in dataclasses.fields(kind) if f.init)}  # type: ignore[arg-type]
    for name in settings:
        if name not in names:
            raise UnknownName("parameter", name, names, f"of '{kind.name}' or of the rule that tunes it")
    spec_text(settings)  # rejects values that are not plain
