"""Prints the code that torch.compile's Inductor writes for a softmax of rows.

    python notebooks/13-languages/inductor.py

needs PyTorch and a GPU: for tensors of the CPU Inductor writes C++, not Triton.
"""

import sys

try:
    import torch
    from torch._inductor.utils import run_and_get_code
except ImportError as error:
    sys.exit(f"inductor.py: {error}: install PyTorch")
if not torch.cuda.is_available():
    sys.exit("inductor.py: PyTorch finds no GPU: for the CPU Inductor writes C++, not Triton")

x = torch.randn(4096, 1024, device="cuda")
result, code = run_and_get_code(torch.compile(lambda v: torch.softmax(v, dim=-1)), x)
torch.testing.assert_close(result, torch.softmax(x, dim=-1))
print("\n".join(code))
