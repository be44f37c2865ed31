"""A plugin as pip leaves it behind: a folder on the path that says which entry point its module answers to."""

from pathlib import Path


def install_plugin(folder: Path, group: str, entry: str) -> Path:
    """Announces `name = module:object` under an entry point in `folder`, which belongs on the path."""
    name = entry.split("=", maxsplit=1)[0].strip()
    announcement = folder / f"{name.replace('-', '_')}_plugin-1.0.dist-info"
    announcement.mkdir(parents=True)
    (announcement / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-plugin\nVersion: 1.0\n")
    (announcement / "entry_points.txt").write_text(f"[{group}]\n{entry}\n")
    return folder
