"""One test that goes through many cases and reports every one that fails; cheaper than an item of pytest for each."""

import inspect
from collections.abc import Callable, Iterable, Sequence

import pytest

LONGEST = 300
"""Letters of a case that a report shows."""


def each(names: str | Sequence[str], cases: Iterable[object]) -> Callable[[Callable[..., object]], Callable[..., None]]:
    """Runs a test over all cases, as `pytest.mark.parametrize` does, but as one test; fixtures are made once.

    Use it where the body is cheap and leaves nothing behind: the cases share whatever the fixtures give.
    """
    known = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    cases = list(cases)
    if any(isinstance(case, type(pytest.param())) for case in cases):
        raise TypeError("a case has marks or an id of its own: use pytest.mark.parametrize")
    given = [case if len(known) > 1 else (case,) for case in cases]

    def decorate(check: Callable[..., object]) -> Callable[..., None]:
        def check_all(**fixtures: object) -> None:
            assert given, "no cases"
            failed = []
            for case in given:
                try:
                    check(**dict(zip(known, case, strict=True)), **fixtures)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  # told below, every one
                    said = ", ".join(f"{name}={value!r}" for name, value in zip(known, case, strict=True))
                    failed.append(f"{said[:LONGEST]}\n  {type(error).__name__}: {error}")
            if failed:
                pytest.fail(f"{len(failed)} of {len(given)} cases fail:\n" + "\n".join(failed), pytrace=False)

        check_all.__dict__.update(check.__dict__)
        parameters = inspect.signature(check).parameters.values()
        check_all.__signature__ = inspect.Signature([each for each in parameters if each.name not in known])
        check_all.__name__, check_all.__doc__, check_all.__module__ = check.__name__, check.__doc__, check.__module__
        return check_all

    return decorate
