# One command per task. `just check` is what CI does.

# Everything CI does
check: lint types imports test

lint:
    ruff check .
    ruff format --check .

types:
    mypy

imports:
    lint-imports --no-cache

test *arguments:
    pytest {{arguments}}

# Coverage and bias of every interval over 2,000 simulated runs (CI runs 200)
recovery:
    pytest -m slow tests/recovery

# Mend what can be mended by program
format:
    ruff check --fix .
    ruff format .
