"""The installed kernel through jupyter_server's REST and WebSocket API, with two
clients at once, as VS Code and other clients use it.

Usage: rest_test.py NOTEBOOK FOLDER, with jupyter in PATH.
"""
import datetime, json, os, pathlib, re, secrets, shutil, subprocess, sys, threading, time, urllib.error, urllib.request, uuid

import nbformat
import websocket

notebook, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
PATIENCE = 600  # seconds, for the whole notebook on two cores
failures = 0


def check(what, good, detail=""):
    global failures
    failures += not good
    print("ok  " if good else "FAIL", what + (f": {detail}" if detail != "" else ""), flush=True)


class Server:
    """A Jupyter server of its own, with default settings."""

    def __init__(self, root):
        self.token = secrets.token_hex(16)
        env = {**os.environ, "JUPYTER_DATA_DIR": str(root / "data"), "JUPYTER_CONFIG_DIR": str(root / "config"),
               "JUPYTER_RUNTIME_DIR": str(root / "runtime")}
        self.process = subprocess.Popen(
            ["jupyter", "server", "--allow-root", "--no-browser", "--port=0", "--ServerApp.ip=127.0.0.1",
             f"--IdentityProvider.token={self.token}", f"--ServerApp.root_dir={root / 'root'}"],
            env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in self.process.stdout:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/", line):
                self.at = f"127.0.0.1:{found[1]}"
                break
        else:
            sys.exit("rest_test: the server did not start")
        threading.Thread(target=self.process.stdout.read, daemon=True).start()  # else the pipe fills
        for _ in range(1200):  # it says where before it listens there
            try:
                self.api("GET", "status")
                break
            except urllib.error.URLError:
                time.sleep(0.1)

    def api(self, method, path, content=None):
        request = urllib.request.Request(f"http://{self.at}/api/{path}", method=method,
                                         data=None if content is None else json.dumps(content).encode(),
                                         headers={"Authorization": "token " + self.token, "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            body = answer.read()
        return json.loads(body) if body else None

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=120)


class Client:
    """One WebSocket, with what has come and was not asked for yet."""

    def __init__(self, server, kernel):
        self.server, self.kernel, self.session = server, kernel, uuid.uuid4().hex
        self.open()

    def open(self):
        self.inbox = []
        self.socket = websocket.create_connection(
            f"ws://{self.server.at}/api/kernels/{self.kernel}/channels?session_id={self.session}&token={self.server.token}",
            timeout=PATIENCE)

    def send(self, channel, kind, parent=None, subshell=None, **content):
        header = {"msg_id": uuid.uuid4().hex, "session": self.session, "username": "ci", "msg_type": kind, "version": "5.4",
                  "date": datetime.datetime.now(datetime.timezone.utc).isoformat()}
        if subshell:
            header["subshell_id"] = subshell
        self.socket.send(json.dumps({"channel": channel, "header": header, "parent_header": parent or {},
                                     "metadata": {}, "content": content, "buffers": []}))
        return header["msg_id"]

    def execute(self, code, **how):
        return self.send("shell", "execute_request", code=code, silent=False, store_history=True, user_expressions={},
                         allow_stdin=True, stop_on_error=True, **how)

    def next(self, channel, parent):
        """The next child of a request on a channel; others wait."""
        for i, m in enumerate(self.inbox):
            if m["channel"] == channel and m["parent_header"].get("msg_id") == parent:
                return self.inbox.pop(i)
        while True:
            m = json.loads(self.socket.recv())
            if m["channel"] == channel and m["parent_header"].get("msg_id") == parent:
                return m
            self.inbox.append(m)

    def outputs(self, parent):
        """What a notebook keeps of a cell, read until idle."""
        found = []
        while True:
            m = self.next("iopub", parent)
            kind, content = m["msg_type"], m["content"]
            if kind == "status" and content["execution_state"] == "idle":
                return found
            if kind == "stream" and found and found[-1].get("name") == content["name"]:
                found[-1]["text"] += content["text"]
            elif kind in ("stream", "display_data", "execute_result", "error"):
                content.pop("transient", None)
                found.append({"output_type": kind, **content})

    def run(self, code):
        request = self.execute(code)
        return self.next("shell", request)["content"], self.outputs(request)

    def seen(self, channel):
        """What has come on a channel so far, after a moment."""
        self.socket.settimeout(0.3)
        try:
            while True:
                self.inbox.append(json.loads(self.socket.recv()))
        except websocket.WebSocketTimeoutException:
            pass
        self.socket.settimeout(PATIENCE)
        return [m for m in self.inbox if m["channel"] == channel]


def whole_notebook(server, one, two):
    """One client runs the notebook, both see it, and it is saved with what they saw."""
    book = nbformat.read(notebook, 4)
    same, ok, start = True, True, time.time()
    for cell in book.cells:
        if cell.cell_type == "code":
            request = one.execute(cell.source)
            reply, mine = one.next("shell", request)["content"], one.outputs(request)
            same = same and mine == two.outputs(request)
            ok = ok and reply["status"] == "ok"
            cell.outputs, cell.execution_count = [nbformat.from_dict(o) for o in mine], reply["execution_count"]
    check("every cell ran", ok, f"{time.time() - start:.0f} s")
    check("both clients saw the same outputs", same)
    check("only the client that asked got replies", not two.seen("shell"))
    server.api("PUT", "contents/" + notebook.name, {"type": "notebook", "content": book})
    saved = nbformat.from_dict(server.api("GET", f"contents/{notebook.name}?content=1")["content"])
    nbformat.validate(saved)
    texts = [json.dumps([o for c in b.cells if c.cell_type == "code" for o in c.outputs], sort_keys=True) for b in (book, saved)]
    check("the saved notebook is valid and holds the outputs", texts[0] == texts[1] and "PASS" in texts[1])


def at_once(one, two):
    """Both clients run cells on the same variables."""
    one.run("total := 0")
    requests = [(c, c.execute("total += 1\ntotal")) for _ in range(20) for c in (one, two)]
    counts, values = [], []
    for client, request in requests:
        counts.append(client.next("shell", request)["content"]["execution_count"])
        values.append(client.outputs(request)[-1]["data"]["text/plain"])
    check("cells of two clients run one after the other", sorted(values, key=int) == [str(i) for i in range(1, 41)] and len(set(counts)) == 40)


def question(one, two):
    one.run('import "fmt"\nvar who string')
    request = one.execute('fmt.Scanln(&who)\nfmt.Println("hello", who)')
    asked = one.next("stdin", request)
    check("only the client that runs the cell is asked", not two.seen("stdin"))
    two.send("stdin", "input_reply", parent=asked["header"], value="intruder")
    one.send("stdin", "input_reply", parent=asked["header"], value="Ada")
    check("its answer counts", one.outputs(request) == [{"output_type": "stream", "name": "stdout", "text": "hello Ada\n"}])
    one.next("shell", request)


def interrupt(server, one, two):
    request, behind = one.execute("for {}"), one.execute("after := 1")
    while one.next("iopub", request)["msg_type"] != "execute_input":  # on a busy machine the request may come after the interrupt
        pass
    time.sleep(0.3)
    start = time.time()
    server.api("POST", f"kernels/{one.kernel}/interrupt")
    reply = one.next("shell", request)["content"]
    check("an interrupt by REST ends the cell", reply.get("ename") == "interrupted", f"{(time.time() - start) * 1e3:.0f} ms")
    check("the cell behind it is aborted", one.next("shell", behind)["content"]["status"] == "aborted")
    check("the other client sees it", two.outputs(request)[-1]["output_type"] == "error" and two.outputs(behind) == [])


def subshell(one):
    request = one.execute("for {}")
    created = one.next("control", one.send("control", "create_subshell_request"))["content"]
    beside = one.execute("total", subshell=created["subshell_id"])
    check("a subshell answers while a cell runs", one.next("shell", beside)["content"]["status"] == "ok" and
          one.outputs(beside)[-1]["data"]["text/plain"] == "40")
    one.next("control", one.send("control", "interrupt_request"))
    one.next("shell", request)
    one.next("control", one.send("control", "delete_subshell_request", subshell_id=created["subshell_id"]))


def reconnect(one, two):
    """A client that was away while a cell ran finds the cell's result."""
    one.run('import "time"\nvar slow int')
    request = two.execute("time.Sleep(3 * time.Second)\nslow = 7")
    two.next("iopub", request)  # else the server may drop the request with the connection
    two.socket.close()
    time.sleep(0.3)
    two.open()
    # Not asked for: the reply to the request of before, which the server drops
    # while another client is connected. The kernel sends it to the identity that
    # came back: on bare sockets it arrives.
    outputs = two.run("slow")[1]
    check("the reconnected client sees what its cell did", outputs and outputs[-1].get("data", {}).get("text/plain") == "7", outputs)
    one.outputs(request)


def flood(one, two):
    """Output as much as the server lets pass with default settings."""
    for what, code, lines in (("10 000 lines arrive whole", 'for i := range 10000 { fmt.Println("line", i) }', 10000),
                              ("more than a tab bears is cut with a notice", 'for i := range 1000000 { fmt.Println("line", i) }', None)):
        time.sleep(4)  # the server's rate counts what came in its last 3 s
        request = one.execute(code)
        outputs = one.outputs(request)
        one.next("shell", request)
        text = "".join(o["text"] for o in outputs if o["name"] == "stdout")
        notes = "".join(o["text"] for o in outputs if o["name"] == "stderr")
        whole = text == "".join(f"line {i}\n" for i in range(text.count("\n")))
        check(what, whole and (text.count("\n") == lines and not notes if lines else "the rest is in" in notes), f"{text.count(chr(10))} lines {notes[:90]}".strip())
        two.outputs(request)


def restart(server, one):
    start = time.time()
    server.api("POST", f"kernels/{one.kernel}/restart")
    one.socket.close()
    one.open()
    reply, _ = one.run("total")
    check("after a restart variables are gone", reply["status"] == "error" and "undefined" in reply["evalue"], f"{time.time() - start:.1f} s")
    server.api("DELETE", f"kernels/{one.kernel}")
    check("the kernel is gone", server.api("GET", "kernels") == [])


def main():
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "root").mkdir(parents=True)
    shutil.copy(notebook, folder / "root")
    server = Server(folder.resolve())
    try:
        session = server.api("POST", "sessions", {"path": notebook.name, "name": notebook.name, "type": "notebook", "kernel": {"name": "warpbook"}})
        one, two = (Client(server, session["kernel"]["id"]) for _ in range(2))
        two.run("")  # both are connected
        one.run("")
        whole_notebook(server, one, two)
        at_once(one, two)
        question(one, two)
        interrupt(server, one, two)
        subshell(one)
        reconnect(one, two)
        flood(one, two)
        restart(server, one)
    finally:
        server.stop()
    print(failures, "failed")
    sys.exit(failures > 0)


main()
