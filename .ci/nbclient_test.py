"""nbclient and nbconvert with the installed kernel.

Usage: nbclient_test.py NOTEBOOK FOLDER. The notebook must execute, as must
nbconvert --execute; of a notebook with a failing cell both must say so.
"""
import pathlib
import subprocess
import sys

import nbclient
import nbformat
from nbformat.v4 import new_code_cell, new_notebook

notebook, folder = map(pathlib.Path, sys.argv[1:])
folder.mkdir(parents=True, exist_ok=True)
failures = 0


def check(what, good, detail=""):
    global failures
    failures += not good
    print("ok  " if good else "FAIL", what, detail)


def convert(source, name):
    command = ["jupyter", "nbconvert", "--execute", "--to", "html", "--output-dir", folder, "--output", name, source]
    return subprocess.run(command, capture_output=True, text=True)


nb = nbformat.read(notebook, 4)
nbclient.NotebookClient(nb, timeout=600, kernel_name="warpbook", resources={"metadata": {"path": notebook.parent}}).execute()
nbformat.validate(nb)
nbformat.write(nb, folder / "nbclient.ipynb")
code = [c for c in nb.cells if c.cell_type == "code"]
check("nbclient executes the notebook", all(c.execution_count for c in code), f"({len(code)} cells)")
check("language_info", nb.metadata.language_info.get("pygments_lexer") == "go", nb.metadata.language_info)

done = convert(notebook, "nbconvert.html")
check("nbconvert --execute", done.returncode == 0, done.stderr[-300:] if done.returncode else "")
if done.returncode == 0:
    html = (folder / "nbconvert.html").read_text()
    check("nbconvert highlights Go", '<span class="nx">' in html or '<span class="kd">' in html)
    check("nbconvert shows plots", "<svg" in html or "data:image/png" in html)

bad = new_notebook(cells=[new_code_cell("x := 1"), new_code_cell("var none []int\n_ = none[3]")],
                   metadata={"kernelspec": {"name": "warpbook", "display_name": "Go (warpbook)", "language": "go"}})
nbformat.write(bad, folder / "bad.ipynb")
done = convert(folder / "bad.ipynb", "bad.html")
check("nbconvert fails when a cell does", done.returncode != 0 and "index out of range" in done.stderr and "line 2" in done.stderr)
try:
    nbclient.NotebookClient(bad, kernel_name="warpbook").execute()
    check("nbclient fails when a cell does", False)
except nbclient.exceptions.CellExecutionError as e:
    check("nbclient fails when a cell does", "index out of range" in str(e))

print(failures, "failed")
sys.exit(failures > 0)
