"""`python -m umpirical`."""

import sys
from pathlib import Path

# `python -m` puts the current folder first on the import path. It may be a stranger's study, with a click.py in it.
if sys.path and Path(sys.path[0] or ".").resolve() == Path.cwd():
    del sys.path[0]

from umpirical.cli import main

if __name__ == "__main__":
    main()
