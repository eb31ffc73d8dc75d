"""Class docstrings name the algorithm, every parameter, the reference, and have an example; nothing repeats them."""

import dataclasses
import inspect
import re

import driftwise
from driftwise.adversaries import adversaries
from driftwise.core.docstrings import described, shown_default
from driftwise.detectors import detectors
from driftwise.environments.noises import noises
from driftwise.environments.paths import paths
from driftwise.learners import OracleRestarts, learners
from looping import for_every
from outside_files import ROOT

ALGORITHMS = [registry.get(name) for registry in (learners, detectors, adversaries) for name in registry]
PARTS = [registry.get(name) for registry in (paths, noises) for name in registry]
NAMES = [getattr(driftwise, name) for name in driftwise.__all__]
CLASSES = [each for each in NAMES if isinstance(each, type) and not issubclass(each, Exception)]
PUBLIC = list(dict.fromkeys([*ALGORITHMS, *PARTS, *CLASSES]))
every_class = for_every("member", PUBLIC, ids=lambda member: member.__name__)
every_algorithm = for_every("member", ALGORITHMS, ids=lambda member: member.__name__)
every_learner = for_every("member", [learners.get(name) for name in learners], ids=lambda m: m.__name__)

# Classes whose name is not in the usual name of the algorithm, with the usual name.
USUAL_NAMES = {
    "BanditLow": "Theorem 4.1 (bandit-low)",
    "FLH": "Follow the leading history",
    "FullLow": "Theorem 4.2 (full-low)",
    "FullV": "Theorem 4.3 (full_V)",
    "GLR": "Generalised likelihood ratio",
    "OnlineGD": "Online gradient descent",
    "OptimisticGD": "Optimistic gradient descent",
    "RestartedAdaptiveGD": "Restarted adaptive gradient descent",
    "DiscountedThompson": "Discounted Thompson",
}


def plain(text):
    return re.sub(r"[^a-z0-9]", "", text.lower())


def constructor(member):
    """Return the parameters of a class with their defaults as a docstring writes them."""
    if dataclasses.is_dataclass(member):
        return {field.name: shown_default(field) for field in dataclasses.fields(member) if field.init}
    given = list(inspect.signature(member.__init__).parameters.values())[1:]
    return {each.name: as_written(each.default) for each in given if each.kind is not inspect.Parameter.VAR_KEYWORD}


def as_written(default):
    """Return the default of an argument as a docstring writes it."""
    if default is inspect.Parameter.empty:
        return ""
    return f'"{default}"' if isinstance(default, str) else repr(default)


@every_class
def test_the_summary_is_one_sentence_on_one_line(member):
    first = inspect.cleandoc(member.__doc__).splitlines()
    assert first[0] == described(member).summary
    assert first[0].endswith(".")
    assert len(first) == 1 or first[1] == ""


@every_class
def test_every_parameter_has_a_meaning_and_its_default(member):
    documented = {each.name: each.default for each in described(member).parameters}
    assert documented == constructor(member)
    assert all(each.kind and each.meaning.endswith(".") for each in described(member).parameters)


@every_class
def test_there_is_an_example(member):
    assert described(member).example.startswith(">>> ")


@every_algorithm
def test_the_summary_has_the_usual_name_and_the_references_are_complete(member):
    about = described(member)
    assert plain(USUAL_NAMES.get(member.__name__, member.__name__)) in plain(about.summary)
    assert re.search(r"\b(19|20)\d\d\b", " ".join(about.references)), "no year"


@every_learner
def test_a_learner_says_its_update_its_regret_and_what_it_must_know(member):
    about = described(member)
    assert {"Regret", "Must know", "Time per round"} <= about.facts.keys()
    assert "$" in about.notes or member is OracleRestarts, "no formula"  # that one has no update of its own
    # The first sentence goes into a table.
    first = [text.partition(". ")[0] for text in about.facts.values()]
    assert all(sentence.isascii() and sentence.count("$") % 2 == 0 and "|" not in sentence for sentence in first)


def test_no_other_text_repeats_a_summary_or_a_meaning():
    pages = [path for path in (ROOT / "docs").glob("*.md") if path.name != "learners.md"]  # that one is generated
    texts = {path.name: " ".join(path.read_text("utf-8").split()) for path in [*pages, ROOT / "README.md"]}
    modules = {path: " ".join(path.read_text("utf-8").split()) for path in (ROOT / "src").rglob("*.py")}
    for member in PUBLIC:
        about = described(member)
        assert sum(text.count(about.summary) for text in modules.values()) == 1, about.summary
        for said in (about.summary, *(each.meaning for each in about.parameters if len(each.meaning) > 40)):
            assert [name for name, text in texts.items() if said in text] == [], said
