"""What scale costs, as figures by name: most are ratios of things that were measured side by side in one run.

    python benchmarks/scale.py --json            full sizes: up to a million trials
    python benchmarks/scale.py --json --quick    small ones, in a few minutes
    python benchmarks/scale.py --part planning   one part alone

A part is a module of `scaling`.
"""

import argparse
import json
import sys

from scaling import PARTS


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--json", action="store_true", help="print one JSON object")
    options.add_argument("--quick", action="store_true", help="small sizes")
    options.add_argument("--part", action="append", choices=sorted(PARTS), help="only this part; can be given again")
    chosen = options.parse_args()
    found: dict[str, float] = {}
    for name in chosen.part or PARTS:
        print(f"{name} …", file=sys.stderr)
        found |= PARTS[name](quick=chosen.quick)
    shown = {name: float(f"{value:.4g}") if isinstance(value, float) else value for name, value in found.items()}
    if chosen.json:
        print(json.dumps(shown, indent=1))
        return
    for name, value in shown.items():
        print(f"{name:<42} {value:,}")


if __name__ == "__main__":
    main()
