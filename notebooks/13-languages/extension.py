"""Builds extension.cu with PyTorch, and compares it with torch.add.

    python notebooks/13-languages/extension.py

needs PyTorch, nvcc and a GPU.
"""

import pathlib
import sys

try:
    import torch
    from torch.utils.cpp_extension import CUDA_HOME, load
except ImportError as error:
    sys.exit(f"extension.py: {error}: install PyTorch")
if not torch.cuda.is_available():
    sys.exit("extension.py: PyTorch finds no GPU")
if CUDA_HOME is None:
    sys.exit("extension.py: no nvcc: set CUDA_HOME to a toolkit of PyTorch's version of CUDA")

module = load(name="warpbook_extension", sources=[str(pathlib.Path(__file__).with_name("extension.cu"))])
for n in (0, 1, 255, 256, 257, 1_000_003):
    x, y = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    assert torch.equal(module.add(x, y), x + y), n
for bad in (torch.zeros(3), torch.zeros(3, device="cuda").double(), torch.zeros(4, device="cuda")):
    try:
        module.add(torch.zeros(3, device="cuda"), bad)
    except RuntimeError:
        continue
    raise AssertionError("a bad argument was accepted")
print("the extension equals torch.add bit by bit at 6 sizes, and rejects 3 bad arguments")
