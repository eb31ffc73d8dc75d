"""The public names with their signatures, what each class adds to those above it, and the options
of all commands, one a line, to see what a change changes.

python tests/helpers/public_signatures.py            # print the lines that differ from `public_signatures.txt`
python tests/helpers/public_signatures.py --write    # write that file
"""

import difflib
import importlib
import inspect
import re
import sys
from pathlib import Path

import click

FILE = Path(__file__).with_suffix(".txt")
PACKAGES = (
    "driftwise", "driftwise.adversaries", "driftwise.checks", "driftwise.detectors", "driftwise.engine",
    "driftwise.environments", "driftwise.forecasting", "driftwise.landscape", "driftwise.learners",
    "driftwise.regret", "driftwise.regret_study", "driftwise.results", "driftwise.sweeps", "driftwise.theory",
)  # fmt: skip


def lines():
    """Return all lines, sorted; a class has one for itself and one for each public member that it defines."""
    found = {}
    for package in map(importlib.import_module, PACKAGES):
        for name in _public_names(package):
            found |= dict(_object_lines(f"{package.__name__}.{name}", getattr(package, name)))
    return sorted(found.items()), sorted(_command_lines())


def text():
    """Return the content of the file."""
    names, options = lines()
    return "".join([*(f"{name}{signature}\n" for name, signature in names), *(f"{line}\n" for line in options)])


def _public_names(package):
    """Return the names that a package lists, or else those that are neither private nor modules."""
    public = [name for name in vars(package) if not name.startswith("_") and not inspect.ismodule(vars(package)[name])]
    return getattr(package, "__all__", public)


def _object_lines(name, value):
    if not inspect.isclass(value):
        yield name, _signature(value) if callable(value) else f": {type(value).__name__}"
        return
    yield name, _signature(value)
    if name.count(".") > 1:  # those of `driftwise` itself are also elsewhere
        for member in vars(value):
            if not member.startswith("_"):
                content = getattr(value, member)
                yield f"{name}.{member}", _signature(content) if callable(content) else ""


def _signature(value):
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    # `Annotated` adds what only the package reads, such as the domains of the fields of a memory.
    plain = [
        parameter.replace(annotation=getattr(parameter.annotation, "__origin__", parameter.annotation))
        if hasattr(parameter.annotation, "__metadata__")
        else parameter
        for parameter in signature.parameters.values()
    ]
    return re.sub(r" at 0x[0-9a-f]+", "", str(signature.replace(parameters=plain)))  # addresses of functions


def _command_lines():
    program = importlib.import_module("driftwise.cli.main")._cli
    context = click.Context(program)
    for name in program.list_commands(context):
        for option in program.get_command(context, name).params:
            choices = f" {[*option.type.choices]}" if isinstance(option.type, click.Choice) else ""
            yield f"driftwise {name} {'/'.join(option.opts)}{choices}"


def main():
    """Compare, or write."""
    if "--write" in sys.argv[1:]:
        FILE.write_text(text(), encoding="utf-8")
    else:
        before, after = FILE.read_text(encoding="utf-8").splitlines(), text().splitlines()
        print("\n".join(difflib.unified_diff(before, after, "before", "after", lineterm="", n=0)))


if __name__ == "__main__":
    main()
