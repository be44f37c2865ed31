"""Text files that a person names: an instruction, a rubric."""

from pathlib import Path

from umpirical.domain.errors import UsageError

__all__ = ["read_named_text"]


def read_named_text(path: Path, *, name: str, most: int) -> str:
    """The text of a file, without blanks around it. `name` is what the person called it; `most` is in bytes."""
    if not path.is_file():
        raise UsageError(f"no file {name}", fix="name a text or Markdown file that is there")
    if path.stat().st_size > most:
        raise UsageError(f"{name} is larger than {most:,} bytes", fix="give the part that judges go by")
    try:
        text = path.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        raise UsageError(f"{name} is not UTF-8 text", fix="save it as UTF-8") from None
    if not text:
        raise UsageError(f"{name} is empty", fix="write down what a good answer has to do")
    return text
