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

# Output that arrives while a later cell runs, which the thread waits for, and much output, beside
# ipykernel.
LATE = "epoch 0\nepoch 1\nepoch 2\n"
LINES = 30_000
CELLS = {
    "warpbook": ['import ("fmt"; "sync")\nvar wg sync.WaitGroup\nbegun := make(chan bool)\nwg.Go(func() { <-begun; for i := range 3 { fmt.Println("epoch", i) } })',
                 "close(begun)\nwg.Wait()", f'for i := range {LINES} {{ fmt.Println("line", i) }}'],
    "python3": ["import threading\nbegun = threading.Event()\ndef work():\n  begun.wait()\n  for i in range(3): print('epoch', i)\nt = threading.Thread(target=work); t.start()",
                "begun.set()\nt.join()", f"for i in range({LINES}): print('line', i)"],
}
for kernel, cells in CELLS.items():
    nb = new_notebook(cells=[new_code_cell(c) for c in cells])
    nbclient.NotebookClient(nb, kernel_name=kernel, timeout=120).execute()
    printed = ["".join(o.text for o in c.outputs if o.output_type == "stream") for c in nb.cells]
    check(f"{kernel}: output of a thread is in the running cell", printed[:2] == ["", LATE], printed[:2])
    check(f"{kernel}: all {LINES} lines are kept", printed[2].count("\n") == LINES and "warpbook:" not in printed[2], f"({printed[2].count(chr(10))})")
nb = new_notebook(cells=[new_code_cell(c) for c in CELLS["warpbook"]], metadata=bad.metadata)
nbformat.write(nb, folder / "late.ipynb")
done = convert(folder / "late.ipynb", "late.html")
text = (folder / "late.html").read_text() if done.returncode == 0 else done.stderr
check("nbconvert keeps the output of a goroutine and all lines", "epoch 2" in text and f"line {LINES - 1}\n" in text, text[-300:] if done.returncode else "")

# Controls: their first result is an output of its own, and their states are in the notebook.
CONTROLS = """import ("fmt"; "warpbook/kernel/display")
display.Interact(func(stride int) string { return fmt.Sprint("banks ", 32/stride) }, display.Slider("stride", 1, 64).At(8))"""
nb = new_notebook(cells=[new_code_cell(CONTROLS)], metadata=bad.metadata)
nbformat.write(nb, folder / "controls.ipynb")
nbclient.NotebookClient(nb, kernel_name="warpbook", timeout=120).execute()
nbformat.validate(nb)
view, result = (o.data for o in nb.cells[0].outputs)
states = nb.metadata.get("widgets", {}).get("application/vnd.jupyter.widget-state+json", {}).get("state", {})
names = sorted(s["model_name"] for s in states.values())
check("nbclient keeps the states of controls", names == ["IntSliderModel", "VBoxModel"] and view["application/vnd.jupyter.widget-view+json"]["model_id"] in states, names)
check("nbclient keeps their first result", result == {"text/plain": "banks 4"}, result)
done = convert(folder / "controls.ipynb", "controls.html")
text = (folder / "controls.html").read_text() if done.returncode == 0 else done.stderr
check("nbconvert shows their first result", "banks 4" in text, text[-300:] if done.returncode else "")

print(failures, "failed")
sys.exit(failures > 0)
