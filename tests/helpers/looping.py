"""One test for many cases, where a case alone says little: it runs on all of them and reports those that fail, by name.

Use `pytest.mark.parametrize` where each case is a statement of its own, or takes seconds.
"""

import functools
import inspect

import pytest

_SHOWN = 5  # failures with their tracebacks; the others are named


def for_every(names, cases, ids=str):
    """Return a decorator with the arguments of `pytest.mark.parametrize`; `cases` may also be a function."""
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)

    def decorate(test):
        def run(**fixtures):
            made = list(cases() if callable(cases) else cases)
            values = [case if len(names) > 1 else (case,) for case in made]
            labels = [ids(case) for case in made] if callable(ids) else list(ids)
            failures = []
            for label, arguments in zip(labels, values, strict=True):
                try:
                    test(**dict(zip(names, arguments, strict=True)), **fixtures)
                except pytest.fail.Exception as error:  # not derived from Exception
                    failures.append((label, AssertionError(str(error)).with_traceback(error.__traceback__)))
                except Exception as error:
                    failures.append((label, error))
            assert made, "there are no cases"
            if failures:
                for label, error in failures[:_SHOWN]:
                    error.add_note(f"The case: {label}")
                text = f"{len(failures)} of {len(made)} cases fail: {', '.join(label for label, _ in failures)}"
                raise ExceptionGroup(text, [error for _, error in failures[:_SHOWN]])

        functools.update_wrapper(run, test)
        parameters = inspect.signature(test).parameters
        run.__signature__ = inspect.Signature([each for name, each in parameters.items() if name not in names])
        return run

    return decorate
