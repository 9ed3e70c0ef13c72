"""Prints which kernels PyTorch's dispatcher has for torch.add, by the device of its tensors,
and which CUDA kernel a call launches.

    python notebooks/13-languages/dispatch.py

needs PyTorch; the last lines need a GPU.
"""

import pathlib
import sys
import warnings

try:
    import torch
except ImportError as error:
    sys.exit(f"dispatch.py: {error}: install PyTorch")

print("PyTorch", torch.__version__, "on", torch.cuda.get_device_name() if torch.cuda.is_available() else "a machine without a GPU")
installed = f"{pathlib.Path(torch.__file__).parent.parent}/"
for line in torch._C._dispatch_dump("aten::add.Tensor").splitlines():
    if line.startswith(("schema", "CPU:", "CUDA:", "SparseCUDA:", "Autograd", "Meta:")):
        print(line.replace(installed, "")[:160])
if torch.cuda.is_available():
    from torch.profiler import ProfilerActivity, profile

    warnings.filterwarnings("ignore", message=".*Profiler clears events")
    x = torch.ones(1 << 20, device="cuda")
    torch.add(x, x)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as run:
        torch.add(x, x)
        torch.cuda.synchronize()
    for event in run.events():
        if event.name.startswith("aten::") or "add" in event.name.lower() or "Launch" in event.name:
            print(str(event.device_type).split(".")[-1], event.name[:140])
