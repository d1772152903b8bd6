"""The report: self-contained, escaped, and readable in a browser at any width."""

import html.parser
import json
import pathlib
import re
import shutil
import subprocess

import pytest
from matplotlib import figure

from crtr_tf import experiments
from crtr_tf.experiments import page

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chrome")
ABOUT = {
  "paper": "0.63 < 1 & so on",
  "scale": "cpu",
  "shrunk": "much",
  "seeds": 1,
  "command": "crtr-reproduce --result=x",
  "runs": [{"name": "a-run", "command": "crtr-train --run_dir=a"}],
  "version": "1",
}


@pytest.fixture
def results(tmp_path: pathlib.Path) -> pathlib.Path:
  fig = figure.Figure(figsize=(4, 3))
  fig.subplots().plot([0, 1], [0, 1])
  wide = [[f"row {i}", *("0.123" for _ in range(12))] for i in range(3)]
  table = page.Table("A wide table", [f"column {i}" for i in range(13)], wide)
  for name in ("first", "second"):
    one = page.Page([table], {"picture": (fig, "A caption")}, {"x": 1}, [f"remark <{name}>"])
    one.write(tmp_path / "results" / name, {"name": name, "title": f"Result {name}", **ABOUT})
  return tmp_path / "results"


def test_a_report_needs_no_other_file(results: pathlib.Path, tmp_path: pathlib.Path):
  path = experiments.write_report(results, tmp_path / "report")
  text = path.read_text()
  assert [child.name for child in path.parent.iterdir()] == ["index.html"]
  assert not re.search(r'(src|href)="(?!data:|#)', text)
  assert text.count("data:image/png;base64,") == 2
  assert "0.63 &lt; 1 &amp; so on" in text and "remark &lt;first&gt;" in text
  assert "crtr-reproduce --result=x" in text and "crtr-train --run_dir=a" in text
  html.parser.HTMLParser().feed(text)


def test_no_results_are_told_as_such(tmp_path: pathlib.Path):
  with pytest.raises(FileNotFoundError, match="holds no results yet; run one with"):
    experiments.write_report(tmp_path, tmp_path / "report")


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome is installed")
@pytest.mark.parametrize("width", [390, 1280])
def test_a_browser_shows_it_without_scrolling_sideways(
  width: int, results: pathlib.Path, tmp_path: pathlib.Path
):
  path = experiments.write_report(results, tmp_path / "report")
  # A page in a frame of that width tells how wide it wants to be; headless windows have a minimum.
  frame = tmp_path / "frame.html"
  frame.write_text(
    f'<iframe id="f" style="width:{width}px;height:800px;border:0" src="{path.as_uri()}"></iframe>'
    "<script>onload = () => { const d = document.getElementById('f').contentDocument;"
    "const images = [...d.images].map(i => i.complete && i.naturalWidth > 0);"
    "document.body.innerText = JSON.stringify({wide: d.documentElement.scrollWidth,"
    "sections: d.querySelectorAll('section').length, images}); }</script>"
  )
  command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
  command += ["--allow-file-access-from-files", "--disable-background-networking", "--disable-sync"]
  command += [f"--user-data-dir={tmp_path / 'profile'}", frame.as_uri()]
  shown = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
  found = json.loads(re.search(r"\{.*\}", shown).group())
  assert found["sections"] == 2
  assert found["images"] == [True, True]
  assert found["wide"] <= width


def test_markdown_has_the_same_with_pictures_beside_it(
  results: pathlib.Path, tmp_path: pathlib.Path
):
  path = experiments.write_markdown(results, tmp_path / "docs")
  text = path.read_text()
  assert "## Result first" in text and "| row 0 | 0.123 |" in text
  for source in re.findall(r'src="([^"]+)"', text):
    assert (path.parent / source).read_bytes().startswith(b"\x89PNG")


def test_markdown_keeps_what_other_machines_found(results: pathlib.Path, tmp_path: pathlib.Path):
  docs = tmp_path / "docs"
  whole = experiments.write_markdown(results, docs).read_text()
  part = tmp_path / "part"
  shutil.copytree(results / "second", part / "second")
  found = json.loads((part / "second" / "result.json").read_text())
  found["paper"] = "Another claim."
  (part / "second" / "result.json").write_text(json.dumps(found))
  text = experiments.write_markdown(part, docs).read_text()
  assert "*The paper:* Another claim." in text
  first = whole.index("## Result second")
  assert text[:first] == whole[:first]
  assert text.count("## Result") == 2
  # At another scale nothing of it holds.
  found["shrunk"] = "Nothing."
  (part / "second" / "result.json").write_text(json.dumps(found))
  assert "## Result first" not in experiments.write_markdown(part, docs).read_text()
