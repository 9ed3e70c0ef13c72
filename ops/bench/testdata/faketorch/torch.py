"""A stand-in for torch with a GPU that has streams and no speed: tests of warpbook_peer's clock use it where no GPU is.

Work takes the time that the code under test gives it: use(ns). It lasts in the current stream of the device's own clock, and
synchronize lets the host wait for all of it. An array is a Tensor of Python's numbers.
"""
import array
import time


class dtype:
    def __init__(self, name, code):
        self.name, self.code = name, code

    def __str__(self):
        return "torch." + self.name


float32, float64, uint8 = dtype("float32", "f"), dtype("float64", "d"), dtype("uint8", "B")


class Tensor(array.array):
    def __new__(cls, dtype, values=()):
        self = super().__new__(cls, dtype.code, values)
        self.dtype = dtype
        return self

    def clone(self):
        return Tensor(self.dtype, self)

    def numel(self):
        return len(self)

    def element_size(self):
        return self.itemsize

    def view(self, dtype):
        return Tensor(dtype, self.tobytes())

    def to(self, where):
        return self

    def reshape(self, n):
        return self

    def copy_(self, other):
        raw = other.tobytes()
        self.buffer[:] = raw

    def max(self):
        cuda.flushes += 1


def zeros(n, device):
    return Tensor(float32, bytes(4))


def empty(n, dtype, device):
    return Tensor(dtype)


def frombuffer(raw, dtype):
    t = Tensor(dtype, bytes(raw))
    t.buffer = memoryview(raw)
    return t


def as_tensor(values, dtype, device):
    return Tensor(float32, values if hasattr(values, "__len__") else [values])


def equal(a, b):
    return a.tobytes() == b.tobytes()


__version__ = "of no GPU"


class cuda:
    """The device: when each stream's work ends, by the host's clock in ns."""

    ends, stream, flushes = {"default": 0, "other": 0}, "default", 0

    class Event:
        def __init__(self, enable_timing):
            assert enable_timing

        def record(self):
            self.at = max(time.perf_counter_ns(), cuda.ends["default"])

        def synchronize(self):
            cuda.wait(self.at)

        def elapsed_time(self, end):
            return (end.at - self.at) / 1e6

    def wait(until):
        while time.perf_counter_ns() < until:
            time.sleep(1e-5)

    def is_available():
        return True

    def get_device_name():
        return "GPU of a test"

    def get_device_properties(i):
        class properties:
            L2_cache_size = 50 << 20

        return properties

    def synchronize():
        cuda.wait(max(cuda.ends.values()))

    def _sleep(cycles):
        cuda.use(cycles)  # 1 GHz

    def use(ns, stream="default"):
        """Adds work to a stream."""
        cuda.ends[stream] = max(time.perf_counter_ns(), cuda.ends[stream]) + ns
