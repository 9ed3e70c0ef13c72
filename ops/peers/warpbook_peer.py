"""Puts a Python function beside the rungs of an operator: bench OPERATOR --size N --peer 'python3 mine.py'.

    import warpbook_peer                    # bench puts it on the path

    def mine(x, y, n):                      # inputs, outputs, numbers of the size and parameters, by the operator's names
        y[0] = x.sum()                      # or: return x.sum()

    warpbook_peer.serve(mine)

Arrays are flat. They are tensors on the GPU where there are torch and a GPU, tensors or numpy arrays on the CPU else, or
arrays of Python without both. README.md beside this file has the protocol for other languages.
"""

import array
import inspect
import json
import statistics
import sys
import time

try:
    import torch
except ImportError:
    torch = None
try:
    import numpy
except ImportError:
    numpy = None

CODES = {"float32": "f", "float64": "d", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q"}


class Plain:
    """Arrays of Python or of numpy, timed by the host's clock."""

    device, method = "CPU", "host clock"

    def __init__(self):
        self.made_by = f"numpy {numpy.__version__}" if numpy else f"Python {sys.version.split()[0]}"

    def load(self, spec):
        if numpy:
            return numpy.fromfile(spec["file"], dtype=spec["type"])
        if spec["type"] not in CODES:
            raise TypeError(f"{spec['name']} is {spec['type']}: install numpy or torch")
        values = array.array(CODES[spec["type"]])
        with open(spec["file"], "rb") as f:
            values.frombytes(f.read())
        return values

    def save(self, values, spec):
        with open(spec["file"], "wb") as f:
            f.write(values.tobytes())

    def type_of(self, values):
        if isinstance(values, array.array):
            return next(name for name, code in CODES.items() if code == values.typecode)
        return str(values.dtype) if hasattr(values, "dtype") else ""

    def put(self, output, result):
        if hasattr(result, "__len__") and len(result) > len(output):
            raise ValueError(f"{len(result)} elements of a result, expected at most {len(output)}")
        if not hasattr(result, "__len__"):
            result = [result]
        if isinstance(output, array.array):
            result = array.array(output.typecode, result)
        output[: len(result)] = result

    def copy(self, values):
        return values[:] if isinstance(values, array.array) else values.copy()

    def same(self, a, b):
        return a.tobytes() == b.tobytes()

    def time(self, request, before, run):
        ns = []
        for i in range(request["repeats"]):
            before(i)
            start = time.perf_counter_ns()
            run()
            ns.append(time.perf_counter_ns() - start)
        return ns, []


class Torch:
    """Tensors: on the GPU timed by events, on the CPU by the host's clock."""

    def __init__(self):
        self.gpu = torch.cuda.is_available()
        self.where = "cuda" if self.gpu else "cpu"
        self.device = torch.cuda.get_device_name() if self.gpu else "CPU"
        self.method = "events" if self.gpu else "host clock"
        self.made_by = f"torch {torch.__version__}"

    def load(self, spec):
        dtype = getattr(torch, spec["type"])
        if spec["length"] == 0:
            return torch.empty(0, dtype=dtype, device=self.where)
        return torch.frombuffer(bytearray(open(spec["file"], "rb").read()), dtype=dtype).to(self.where)

    def save(self, values, spec):
        raw = bytearray(values.numel() * values.element_size())
        if raw:
            torch.frombuffer(raw, dtype=values.dtype).copy_(values)
        with open(spec["file"], "wb") as f:
            f.write(raw)

    def type_of(self, values):
        return str(values.dtype).removeprefix("torch.") if isinstance(values, torch.Tensor) else ""

    def put(self, output, result):
        result = torch.as_tensor(result, dtype=output.dtype, device=self.where).reshape(-1)
        if len(result) > len(output):
            raise ValueError(f"{len(result)} elements of a result, expected at most {len(output)}")
        output[: len(result)] = result

    def copy(self, values):
        return values.clone()

    def same(self, a, b):
        return torch.equal(a.view(torch.uint8), b.view(torch.uint8)) if len(a) else True

    def time(self, request, before, run):
        if not self.gpu:
            return Plain.time(self, request, before, run)
        other = torch.zeros(torch.cuda.get_device_properties(0).L2_cache_size // 2, device="cuda")  # twice the size of L2
        torch.cuda.synchronize()
        ns, late = [], []
        for i in range(request["repeats"]):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            before(i)
            if request["l2"] == "flushed":
                other.max()
            torch.cuda._sleep(200_000)  # the host submits the run before the device begins it
            start.record()
            run()
            end.record()
            end.synchronize()
            waited = time.perf_counter_ns()
            torch.cuda.synchronize()  # what other streams still do
            late.append(time.perf_counter_ns() - waited)
            ns.append(start.elapsed_time(end) * 1e6)
        return ns, late


def arguments(function, values):
    """The arguments of the function by their names."""
    names = [p.name for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    for name in names:
        if name not in values:
            raise TypeError(f"the function takes {name}, expected some of {', '.join(values)}")
    return {name: values[name] for name in names}


def answer(function, kind, request):
    """Runs the function as the request says, and writes its outputs."""
    inputs = {spec["name"]: kind.load(spec) for spec in request["inputs"]}
    kept = {name: kind.copy(values) for name, values in inputs.items()}  # as they must stay
    outputs = {spec["name"]: kind.load(spec) for spec in request["outputs"]}
    given = arguments(function, inputs | outputs | request["size"] | request.get("set", {}))
    returned = {}

    def run():
        nonlocal result
        result = function(**given)

    def change(i):
        if i < len(request["changes"]):
            c = request["changes"][i]
            inputs[c["input"]][c["index"]] = c["value"]
            kept[c["input"]][c["index"]] = c["value"]

    result = None
    for _ in range(request["warmup"]):
        run()
    samples, late = kind.time(request, change, run)
    if result is not None:
        results = result if isinstance(result, (tuple, list)) else [result]
        if len(results) > len(outputs):
            raise ValueError(f"{len(results)} results, expected one for each of {', '.join(outputs)}")
        for (name, output), r in zip(outputs.items(), results):
            returned[name] = kind.type_of(r)
            kind.put(output, r)
    changed = [name for name in inputs if not kind.same(inputs[name], kept[name])]
    for spec in request["outputs"]:
        kind.save(outputs[spec["name"]], spec)
    return {"samples_ns": samples, "late_ns": round(statistics.median(late)) if late else 0,  # a busy host is late in some runs
            "method": kind.method, "device": kind.device, "library": kind.made_by,
            "changed": changed, "returned": {name: t for name, t in returned.items() if t}}


def serve(function):
    """Answers requests, a line of JSON each, until the input ends."""
    out, sys.stdout = sys.stdout, sys.stderr  # what the function prints is no reply
    kind = Torch() if torch else Plain()
    for line in sys.stdin:
        try:
            reply = answer(function, kind, json.loads(line))
        except Exception as e:
            reply = {"error": f"{type(e).__name__}: {(str(e).strip() or 'no text').splitlines()[0]}"}
        print(json.dumps(reply), file=out, flush=True)
