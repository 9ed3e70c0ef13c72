"""Validates notebooks against the official nbformat schema, strictly."""
import sys

import nbformat

for path in sys.argv[1:]:
    nb = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    nbformat.validate(nb)
    ids = [cell["id"] for cell in nb.cells]
    assert len(set(ids)) == len(ids), f"{path}: a cell id stands twice"
    assert (nb.nbformat, nb.nbformat_minor) == (4, 5), f"{path}: nbformat {nb.nbformat}.{nb.nbformat_minor}"
    print(f"{path}: valid nbformat 4.5, {len(nb.cells)} cells")
