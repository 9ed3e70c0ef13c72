"""Figures of the installed kernel, and of ipykernel in the same run.

Usage: bench.py [--rounds N] [--ipykernel-rounds N] [MEASUREMENT...].
Times are those of a client on bare sockets, without jupyter_client's own. They
are printed beside what is aimed at on 2 quiet cores. What neighbours do to a
time has no bound, so it fails only where memory is three times, or a time thirty
times the aim, in each of three tries. On a busy machine, `chrt -r 1
python bench.py` keeps the neighbours out of the figures, but for those of cells
that never stop: such a cell then keeps others from its core, too. Without
ipykernel its column is skipped, and the output says so. The last line says how
it was measured.
"""
import argparse, hashlib, hmac, json, os, signal, socket, statistics, subprocess, sys, tempfile, time, uuid

try:
    import zmq
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
except ImportError as e:
    sys.exit(f"bench: SKIPPED: {e}; pip install -r .ci/requirements.txt")

PATIENCE_MS = 60_000
CHANNELS = ("shell", "iopub", "stdin", "control", "hb")
CODE = {
    "warpbook": {
        "first": "x := 1", "trivial": "x = 1", "busy": "for { }", "expression": "x",
        "import": 'import ("fmt"; "os"; "strings"; "time")',
        "lines": 'for i := 0; i < 100000; i++ { fmt.Println("line", i) }',
        "50 MB": 's := strings.Repeat(strings.Repeat("x", 99)+"\\n", 10000)\nfor i := 0; i < 50; i++ { os.Stdout.WriteString(s) }',
        "page": 'import "warpbook/kernel/display"\npage := display.HTML(strings.Repeat("<p>some &quot;text&quot;</p>\\n", 170000))', "5 MB": "page",
        "type": "type T{0} struct {{ A{0} int }}\nfunc (t T{0}) M{0}() int {{ return t.A{0} }}\nT{0}{{1}}.M{0}()",
        "flood": 'for { fmt.Println("x") }', "complete": "fmt.Pri",
        "now": 'fmt.Println(time.Now().UnixNano())\ntime.Sleep(20 * time.Millisecond)',
        "function": "func f{0}(n int) int {{\n" + "\tn += n & 1\n" * 18 + "\treturn n\n}}",
        "call": "f{0}({0})", "plus": " + ",
    },
    "python3": {
        "first": "x = 1", "trivial": "x = 1", "busy": "while True: pass", "expression": "x",
        "import": "import sys",
        "lines": "for i in range(100000): print('line', i)",
        "50 MB": "s = ('x' * 99 + '\\n') * 10000\nfor i in range(50): sys.stdout.write(s)",
        "page": "from IPython.display import HTML\npage = HTML('<p>some &quot;text&quot;</p>\\n' * 170000)", "5 MB": "page",
        "type": "class T{0}:\n  def M(self): return 1\nT{0}().M()",
        "flood": "while True: print('x')", "complete": "sys.st",
        "now": "import time\nprint(time.time_ns(), flush=True)\ntime.sleep(0.02)",
        "function": "def f{0}(n):\n" + "  n += n & 1\n" * 18 + "  return n",
        "call": "f{0}({0})", "plus": " + ",
    },
}


class Kernel:
    """One running kernel and a client on bare sockets."""

    def __init__(self, name, **env):
        self.spec = KernelSpecManager().get_kernel_spec(name)
        self.code, self.env = CODE[name], {**os.environ, "WARPBOOK_OUTPUT_LINES": "0", **self.spec.env, **env}  # all lines, not those that a tab bears
        self.dir = tempfile.TemporaryDirectory()
        self.env["XDG_DATA_HOME"] = self.dir.name
        self.file, key = os.path.join(self.dir.name, "kernel.json"), uuid.uuid4().hex
        self.keyed = hmac.new(key.encode(), digestmod=hashlib.sha256)  # once, as jupyter_client does
        self.ports = free_ports(len(CHANNELS))
        with open(os.open(self.file, os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
            json.dump({"transport": "tcp", "ip": "127.0.0.1", "key": key, "signature_scheme": "hmac-sha256",
                       **{c + "_port": p for c, p in zip(CHANNELS, self.ports)}}, f)
        self.spawn()

    def spawn(self):
        """Starts the kernel; took_ms is how long its first kernel_info_reply took."""
        self.context, self.sockets = zmq.Context(), {}
        start = time.perf_counter()
        argv = [a.replace("{connection_file}", self.file) for a in self.spec.argv]
        if argv[0].startswith("python"):
            argv[0] = sys.executable
        self.process = subprocess.Popen(argv, env=self.env, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        kinds = {"iopub": zmq.SUB, "hb": zmq.REQ}
        for channel, port in zip(CHANNELS, self.ports):
            s = self.sockets[channel] = self.context.socket(kinds.get(channel, zmq.DEALER))
            s.linger, s.reconnect_ivl, s.rcvtimeo, s.rcvhwm = 0, 1, PATIENCE_MS, 0
            if channel == "iopub":
                s.subscribe(b"")
            s.connect(f"tcp://127.0.0.1:{port}")
        self.receive("shell", self.send("shell", "kernel_info_request"))
        self.took_ms = ms_since(start)
        while not self.sockets["iopub"].poll(20):  # not subscribed yet
            self.receive("shell", self.send("shell", "kernel_info_request"))

    def message(self, kind, **content):
        """The id of a request, and its frames."""
        header = {"msg_id": uuid.uuid4().hex, "session": "bench", "username": "bench", "msg_type": kind, "version": "5.4",
                  "date": time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())}
        body = [json.dumps(part).encode() for part in (header, {}, {}, content)]
        sign = self.keyed.copy()
        sign.update(b"".join(body))
        return header["msg_id"], [b"<IDS|MSG>", sign.hexdigest().encode(), *body]

    def send(self, channel, kind, **content):
        request, frames = self.message(kind, **content)
        self.sockets[channel].send_multipart(frames)
        return request

    def receive(self, channel, parent):
        """The next child of a request: its type, its content and the bytes of it."""
        while True:
            frames = self.sockets[channel].recv_multipart()
            at = frames.index(b"<IDS|MSG>")
            if json.loads(frames[at + 3]).get("msg_id") == parent:
                return json.loads(frames[at + 2])["msg_type"], json.loads(frames[at + 5]), len(frames[at + 5])

    def idle(self, request):
        """Waits for a cell's end; counts its messages and the bytes of its streams."""
        messages = size = 0
        while True:
            kind, content, length = self.receive("iopub", request)
            messages, size = messages + 1, size + length * (kind == "stream")
            if kind == "status" and content["execution_state"] == "idle":
                return messages, size

    def cell(self, code):
        start = time.perf_counter()
        request = self.execute(code)
        messages, size = self.idle(request)
        _, reply, _ = self.receive("shell", request)
        took = ms_since(start)
        if reply["status"] != "ok":
            sys.exit(f"bench: {code!r} failed: {reply.get('evalue')}")
        return took, messages, size

    def cell_unread(self, code):
        """How long a cell without output takes whose request is signed before, and whose messages are not read."""
        _, frames = self.message("execute_request", **self.request(code))
        start = time.perf_counter()
        self.sockets["shell"].send_multipart(frames)
        for channel in ("iopub", "iopub", "iopub", "shell"):  # busy, execute_input and idle; execute_reply
            self.sockets[channel].recv_multipart()
        return ms_since(start)

    def execute(self, code):
        return self.send("shell", "execute_request", **self.request(code))

    def request(self, code):
        return dict(code=code, silent=False, store_history=True, user_expressions={}, allow_stdin=False, stop_on_error=False)

    def ask(self, channel, kind, **content):
        """How long a request takes to be answered."""
        start = time.perf_counter()
        self.receive(channel, self.send(channel, kind, **content))
        return ms_since(start)

    def beat(self):
        start = time.perf_counter()
        self.sockets["hb"].send(b"ping")
        self.sockets["hb"].recv()
        return ms_since(start)

    def interrupt(self):
        if self.spec.interrupt_mode == "message":
            self.receive("control", self.send("control", "interrupt_request"))
        else:
            self.process.send_signal(signal.SIGINT)

    def pss_mb(self):
        """Proportional set size of the kernel and all its descendants."""
        total, todo = 0, [self.process.pid]
        while todo:
            pid = todo.pop()
            try:
                with open(f"/proc/{pid}/smaps_rollup") as f:
                    total += next(int(line.split()[1]) for line in f if line.startswith("Pss:"))
                for task in os.listdir(f"/proc/{pid}/task"):
                    with open(f"/proc/{pid}/task/{task}/children") as f:
                        todo += map(int, f.read().split())
            except (FileNotFoundError, ProcessLookupError):
                pass
        return total / 1024

    def shutdown(self, restart=False):
        self.receive("control", self.send("control", "shutdown_request", restart=restart))
        self.process.wait(timeout=PATIENCE_MS / 1000)
        self.context.destroy(linger=0)


def free_ports(n):
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [s.getsockname()[1] for s in listeners]
    for s in listeners:
        s.close()
    return ports


def ms_since(start):
    return (time.perf_counter() - start) * 1e3


def percentile(values, p):
    return sorted(values)[min(len(values) - 1, int(len(values) * p))]


# Measurements: each takes the name of a kernel and the rounds, and yields its
# figures by row.

def start_and_restart(name, rounds):
    spawn, first, restart = [], [], []
    for _ in range(max(3, rounds // 100)):
        k = Kernel(name)
        spawn.append(k.took_ms)
        first.append(k.cell(k.code["first"])[0])
        start = time.perf_counter()
        k.shutdown(restart=True)
        k.spawn()
        restart.append(ms_since(start))
        k.cell(k.code["first"])
        k.shutdown()
    yield "spawn to kernel_info", statistics.median(spawn)
    yield "first cell", statistics.median(first)
    yield "restart to ready", statistics.median(restart)


def trivial(name, rounds):
    k = Kernel(name)
    k.cell(k.code["first"])
    time.sleep(1)  # what starts in the background is no part of it
    times = [k.cell(k.code["trivial"])[0] for _ in range(rounds)]
    unread = [k.cell_unread(k.code["trivial"]) for _ in range(rounds)]
    k.shutdown()
    yield "trivial cell, median", statistics.median(times)
    yield "trivial cell, p99", percentile(times, 0.99)
    yield "without the client's own work, median", statistics.median(unread)
    yield "without the client's own work, p99", percentile(unread, 0.99)
    yield "arithmetic of the client, as long, p99", percentile(arithmetic(statistics.median(times), rounds), 0.99)


def arithmetic(ms, rounds):
    """How long the client takes for what takes it ms at best and waits for nobody: what it takes more, the machine does."""
    def took(n):
        start = time.perf_counter()
        sum(range(n))
        return ms_since(start)
    n = 1000
    for _ in range(50):
        n = int(n * ms / min(took(n) for _ in range(5)))
    return [took(n) for _ in range(rounds)]


def output(name, rounds):
    k = Kernel(name, WARPBOOK_OUTPUT_BYTES="0")
    k.cell(k.code["import"])
    lines = [k.cell(k.code["lines"]) for _ in range(3)]
    yield "100 000 lines", statistics.median(t for t, _, _ in lines)
    yield "100 000 lines, messages", statistics.median(n for _, n, _ in lines)
    large = [k.cell(k.code["50 MB"]) for _ in range(3)]
    yield "50 MB", statistics.median(t for t, _, _ in large)
    yield "50 MB, messages", statistics.median(n for _, n, _ in large)
    k.cell(k.code["page"])
    yield "display of 5 MB", statistics.median(k.cell(k.code["5 MB"])[0] for _ in range(9))
    delays = []
    for _ in range(20):
        request, kind = k.execute(k.code["now"]), ""
        while kind != "stream":
            kind, content, _ = k.receive("iopub", request)
        delays.append((time.time_ns() - int(content["text"])) / 1e6)
        k.idle(request)
        k.receive("shell", request)
    yield "first byte of output", statistics.median(delays)
    k.shutdown()


def busy(name, rounds):
    k = Kernel(name)
    k.cell(k.code["import"])
    time.sleep(1)  # as before trivial cells
    rounds = max(10, min(rounds // 5, 200))
    complete = [k.ask("shell", "complete_request", code=k.code["complete"], cursor_pos=len(k.code["complete"])) for _ in range(rounds)]
    yield "completion, median", statistics.median(complete[rounds // 10:])
    yield "completion, p99", percentile(complete[rounds // 10:], 0.99)
    for name, code in (("a loop", "busy"), ("a flood of output", "flood")):
        request = k.execute(k.code[code])
        time.sleep(0.3)
        control = [k.ask("control", "kernel_info_request") for _ in range(rounds)]
        beats = [k.beat() for _ in range(rounds)]
        start = time.perf_counter()
        k.interrupt()
        k.receive("shell", request)
        yield "interrupt of " + name, ms_since(start)
        k.idle(request)
        yield f"control during {name}", percentile(control, 0.99)
        yield f"heartbeat during {name}", percentile(beats, 0.99)
    k.shutdown()


def reach(name, rounds):
    """Cells that reach earlier ones: 100 functions, and the same at another place."""
    k = Kernel(name)
    k.cell(k.code["first"])
    for i in range(100):
        k.cell(k.code["function"].format(i))
    time_of = lambda code: statistics.median(k.cell(code)[0] for _ in range(9))
    at_100 = time_of(k.code["call"].format(0))
    yield "cell that reaches 100 functions", time_of(k.code["plus"].join(k.code["call"].format(i) for i in range(100)))
    for _ in range(200):
        k.cell(k.code["trivial"])
    yield "the same cell at position 300 / 100", time_of(k.code["call"].format(0)) / at_100
    k.shutdown()


def memory(name, rounds):
    k = Kernel(name)
    k.cell(k.code["first"])
    time.sleep(2)
    yield "memory, idle (PSS)", k.pss_mb()
    for which in ("first", "second"):
        before = k.pss_mb()
        for _ in range(2000):
            k.cell(k.code["trivial"])
        yield f"growth, {which} 2000 cells, at once", k.pss_mb() - before
        time.sleep(3)  # a kernel may give memory back in a pause
        yield f"growth, {which} 2000 cells", k.pss_mb() - before
    before = k.pss_mb()
    for i in range(200):
        k.cell(k.code["type"].format(i))
    yield "growth, 200 types", k.pss_mb() - before
    k.shutdown()


# Rows: unit and what is aimed at; None is a figure without an aim.
ROWS = {
    "spawn to kernel_info": ("ms", 25), "first cell": ("ms", 10), "restart to ready": ("ms", 300),
    "trivial cell, median": ("ms", 0.6), "trivial cell, p99": ("ms", 1.5),
    "without the client's own work, median": ("ms", None), "without the client's own work, p99": ("ms", None),
    "arithmetic of the client, as long, p99": ("ms", None),
    "100 000 lines": ("ms", 350), "100 000 lines, messages": ("", None), "50 MB": ("ms", 600), "50 MB, messages": ("", None), "display of 5 MB": ("ms", 50),
    "first byte of output": ("ms", 2), "completion, median": ("ms", 5), "completion, p99": ("ms", 5),
    "interrupt of a loop": ("ms", 100), "interrupt of a flood of output": ("ms", 100),
    "control during a loop": ("ms", 5), "control during a flood of output": ("ms", 5),
    "heartbeat during a loop": ("ms", 5), "heartbeat during a flood of output": ("ms", 5),
    "cell that reaches 100 functions": ("ms", 10), "the same cell at position 300 / 100": ("x", 2),
    "memory, idle (PSS)": ("MB", 50), "growth, first 2000 cells, at once": ("MB", None), "growth, first 2000 cells": ("MB", 5),
    "growth, second 2000 cells, at once": ("MB", None), "growth, second 2000 cells": ("MB", 2), "growth, 200 types": ("MB", 20),
}
MEASUREMENTS = (start_and_restart, trivial, output, busy, reach, memory)
TRIES = 3


def wrong(row, figure):
    """Whether a figure is so far over its aim that no other program explains it."""
    unit, aim = ROWS[row]
    return aim is not None and figure > aim * (30 if unit == "ms" else 3)


def figures(name, rounds, chosen, tries=1):
    """The figures of a kernel. Measurements with a wrong one are repeated, and the least counts."""
    found = {}
    for measure in MEASUREMENTS:
        if chosen and measure.__name__ not in chosen:
            continue
        best = {}
        for left in reversed(range(tries)):
            for row, figure in measure(name, rounds):
                best[row] = min(figure, best.get(row, figure))
            again = [row for row, figure in best.items() if wrong(row, figure)]
            if not again:
                break
            if tries > 1:
                print(f"{name}: {measure.__name__}: far over the aim: " + ", ".join(f"{row} {best[row]:.2f}" for row in again) + f"; {left} tries left")
        found.update(best)
    return found


def scheduling():
    """How the client and the kernels are scheduled, in the words of chrt."""
    policy = os.sched_getscheduler(0)
    if policy in (os.SCHED_RR, os.SCHED_FIFO):
        flag = "-r" if policy == os.SCHED_RR else "-f"
        return f"chrt {flag} {os.sched_getparam(0).sched_priority}"
    return "no chrt"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=1000, help="trivial cells to run")
    parser.add_argument("--ipykernel-rounds", type=int, metavar="N", help="as many for ipykernel, whose figures fail nothing; default as --rounds")
    parser.add_argument("measurement", nargs="*", help="of " + ", ".join(m.__name__ for m in MEASUREMENTS) + "; default all")
    options, load = parser.parse_args(), os.getloadavg()[0]
    their_rounds = options.ipykernel_rounds or options.rounds
    ours = figures("warpbook", options.rounds, options.measurement, TRIES)
    try:
        theirs = figures("python3", their_rounds, options.measurement)
    except NoSuchKernel:
        theirs = {}
        print("ipykernel: SKIPPED: not installed, so there are no ratios; pip install ipykernel")
    print(f"{'':38}{'warpbook':>12}{'aim':>8}{'ipykernel':>12}{'ratio':>8}")
    failed = 0
    for row, (unit, aim) in ROWS.items():
        if row not in ours:
            continue
        other, verdict = theirs.get(row), ""
        if aim is not None:
            verdict = "FAIL" if wrong(row, ours[row]) else "ok" if ours[row] <= aim else "over"
            failed += verdict == "FAIL"
        ratio = f"{other / ours[row]:.1f}" if other and ours[row] > 0 else "-"
        print(f"{row:38}{ours[row]:12.2f}{aim if aim is not None else '-':>8}{f'{other:.2f}' if other is not None else '-':>12}{ratio:>8}  {unit:3}{verdict}")
    print(f"{os.cpu_count()} cores, {scheduling()}, load {load:.1f} before and {os.getloadavg()[0]:.1f} after, {options.rounds} rounds, {their_rounds} of ipykernel, {time.strftime('%Y-%m-%d')}; {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
