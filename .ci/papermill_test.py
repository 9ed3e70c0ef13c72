"""papermill with the installed kernel and install/papermill.

Usage: papermill_test.py NOTEBOOK FOLDER. papermill runs the notebook with
another n, without --engine, and values of other types reach a cell.
"""
import pathlib
import subprocess
import sys

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

notebook, folder = map(pathlib.Path, sys.argv[1:])
folder.mkdir(parents=True, exist_ok=True)
failures = 0


def check(what, good, detail=""):
    global failures
    failures += not good
    print("ok  " if good else "FAIL", what, detail if not good else "")


def papermill(source, name, *more):
    done = subprocess.run(["papermill", source, folder / name, "--no-progress-bar", *more], capture_output=True, text=True)
    cells = nbformat.read(folder / name, 4).cells if (folder / name).exists() else []
    return done, [c for c in cells if c.cell_type == "code"]


def text_of(cells):
    return "\n".join(o.get("text", "") or o.get("data", {}).get("text/plain", "") for c in cells for o in c.outputs)


done, cells = papermill(notebook, "reduce.ipynb", "-p", "n", "100000")
injected = [c for c in cells if "injected-parameters" in c.metadata.get("tags", [])]
check("papermill runs the notebook", done.returncode == 0, done.stderr[-500:])
check("one cell with parameters", [c.source.splitlines()[-1:] for c in injected] == [["n = 100000"]], injected)
check("tables are of that size", "n = 100000" in text_of(cells))

declare = new_code_cell('n, x, name, on := 1, 1.0, "", false\nvar xs []int\nvar m map[string]float64')
declare.metadata["tags"] = ["parameters"]
show = new_code_cell('import "fmt"\nfmt.Printf("%T %v, %T %v, %q, %v, %v, %v", n, n, x, x, name, on, xs, m)')
nb = new_notebook(cells=[declare, show], metadata={"kernelspec": {"name": "warpbook", "display_name": "Go (warpbook)", "language": "go"}})
nbformat.write(nb, folder / "types.ipynb")
done, cells = papermill(folder / "types.ipynb", "typed.ipynb", "-p", "n", "7", "-p", "x", "3", "-r", "name", 'a "b" \\ 样', "-p", "on", "True",
                        "-y", "xs: [1, 2]\nm: {a: 1.5, b: 2}")
want = 'int 7, float64 3, "a \\"b\\" \\\\ 样", true, [1 2], map[a:1.5 b:2]'
check("values keep the types of their variables", want in text_of(cells), text_of(cells) or done.stderr[-500:])
done, _ = papermill(folder / "types.ipynb", "infinite.ipynb", "-y", "x: .inf")
check("infinity is refused", done.returncode != 0 and "Go has no such constant" in done.stderr, done.stderr[-300:])
printing = [new_code_cell(c) for c in (
    'import ("fmt"; "sync"; "time")\nvar wg sync.WaitGroup\nwg.Go(func() { time.Sleep(200 * time.Millisecond); fmt.Println("late") })',
    'wg.Wait()\nfor i := range 30_000 { fmt.Println("line", i) }')]
nbformat.write(new_notebook(cells=printing, metadata=nb.metadata), folder / "printing.ipynb")
done, cells = papermill(folder / "printing.ipynb", "printed.ipynb")
check("output of a goroutine and 30 000 lines are kept", text_of(cells[1:]).count("line ") == 30_000 and "late\n" in text_of(cells[1:]), text_of(cells[1:])[-300:] or done.stderr[-500:])
sys.exit(failures != 0)
