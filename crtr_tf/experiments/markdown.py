"""The results as Markdown with pictures beside it, for a repository."""

import json
import pathlib
import shutil
from typing import Any

from crtr_tf.experiments.page import RESULT, find_results
from crtr_tf.training import run_directory

FILE = "README.md"
_FIGURES = "figures"


def write_markdown(results_dir: pathlib.Path, out_dir: pathlib.Path) -> pathlib.Path:
  """Collects the results below a folder into `out_dir`/README.md and its figures.

  Sections of a page of this scale that is already there are replaced in their place, or kept where
  the folder has no such result: nobody runs everything on one machine.

  Raises:
    FileNotFoundError: if there is no result.
  """
  sections = {}
  for folder in find_results(results_dir):
    result = json.loads((folder / RESULT).read_text())
    seeds = f"{result['seeds']} seed{'s' if result['seeds'] != 1 else ''}"
    parts = [f"## {result['title']}", f"*The paper:* {result['paper']}", *result["remarks"]]
    parts += [_table(table) for table in result["tables"]]
    for figure in result["figures"]:
      place = out_dir / _FIGURES / result["name"] / figure["file"]
      place.parent.mkdir(parents=True, exist_ok=True)
      shutil.copyfile(folder / figure["file"], place)
    parts.append(" ".join(_picture(result["name"], figure) for figure in result["figures"]))
    parts.append(f"`{result['command']}` ({seeds}, scale {result['scale']})")
    sections[parts[0]] = "\n\n".join(part for part in parts if part)
    shrunk = result["shrunk"]
  title = "# Results\n\nWhat was shrunk at this scale: " + shrunk
  out_dir.mkdir(parents=True, exist_ok=True)
  sections = _sections(out_dir / FILE, title) | sections
  run_directory.write_atomically(out_dir / FILE, "\n\n".join([title, *sections.values()]) + "\n")
  return out_dir / FILE


def _sections(page: pathlib.Path, title: str) -> dict[str, str]:
  """Heading -> section of a page that exists and has this title; otherwise none."""
  if not page.exists():
    return {}
  first, *sections = page.read_text().rstrip("\n").split("\n\n## ")
  if first != title:
    return {}
  return {f"## {text.splitlines()[0]}": f"## {text}" for text in sections}


def _table(table: dict[str, Any]) -> str:
  rows = [table["columns"], ["---"] * len(table["columns"]), *table["rows"]]
  return f"**{table['title']}**\n\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _picture(name: str, figure: dict[str, str]) -> str:
  caption = figure["caption"].replace('"', "'")
  return f'<img src="{_FIGURES}/{name}/{figure["file"]}" alt="{caption}" width="420">'
