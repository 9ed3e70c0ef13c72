"""Runs the steps of install/Dockerfile's image in a clean root, and then uses the image as
Docker, a development container (.devcontainer) and Binder (.binder) do.

Usage: image.py WHEEL-DIR SCRATCH. The first stage has made the wheel in WHEEL-DIR. The root
is a minimal Debian, as FROM says, made by debootstrap; this machine lends it its network's
certificates, and nothing else. Needs root.
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import urllib.request

wheels, scratch = map(os.path.abspath, sys.argv[1:3])
root = os.path.join(scratch, "root")


def dockerfiles():
    """The Dockerfile of each kind of image, and what a development container says else."""
    container = json.load(open(".devcontainer/devcontainer.json"))
    build = container["build"]
    context = os.path.normpath(os.path.join(".devcontainer", build["context"]))
    assert context == ".", f"the context is {context}, expected the repository, which the first stage copies"
    return [os.path.normpath(os.path.join(".devcontainer", build["dockerfile"])), ".binder/Dockerfile"], container


def steps(path):
    """The lines of the last stage: an instruction and its argument."""
    text = open(path).read().replace("\\\n", " ")
    stage = re.split(r"(?m)^FROM ", text)[-1].splitlines()
    assert stage[0] == "debian:bookworm-slim", stage[0]
    return [line.split(None, 1) for line in stage[1:] if line and not line.startswith("#")]


def make_root():
    mirror = next(l.split()[1] for l in open("/etc/apt/sources.list.d/debian.sources") if l.startswith("URIs:"))
    subprocess.run(["debootstrap", "--variant=minbase", "--include=ca-certificates", "bookworm", root, mirror], check=True, stdout=subprocess.DEVNULL)
    for name in ["/etc/resolv.conf", "/etc/hosts", "/etc/ssl/certs/ca-certificates.crt"]:
        shutil.copyfile(name, root + name)


class Image:
    """The state that instructions change, and commands in it."""

    def __init__(self, **arguments):
        self.arguments = arguments  # of docker build --build-arg
        self.ports = []
        self.variables = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "PIP_CERT": "/etc/ssl/certs/ca-certificates.crt"}
        self.user, self.folder, self.command = "root", "/", None

    def filled(self, text):
        return re.sub(r"\$(\w+)", lambda m: self.variables.get(m[1], m[0]), text)

    def argv(self, command):
        home = "/root" if self.user == "root" else "/home/" + self.user
        env = [f"{k}={v}" for k, v in {**self.variables, "HOME": home}.items()]
        inside = f"cd {shlex.quote(self.folder)} && {command}"
        ids = [] if self.user == "root" else [f"--userspec={self.user}:{self.user}"]
        return ["env", "-i", *env, "chroot", *ids, root, "/bin/sh", "-c", inside]

    def run(self, command):
        print("RUN", command, flush=True)
        start = time.time()
        subprocess.run(self.argv(command), check=True)
        print(f"    {time.time() - start:.1f} s", flush=True)

    def step(self, instruction, text):
        match instruction:
            case "RUN":
                self.run(text)
            case "ENV" | "ARG":
                name, value = text.split("=", 1)
                self.variables[name] = self.arguments.get(name, self.filled(value)) if instruction == "ARG" else self.filled(value)
            case "USER":
                self.user = self.filled(text)
            case "WORKDIR":
                self.folder = self.filled(text)
            case "COPY":
                assert text == "--from=build /wheel /wheel", text
                shutil.copytree(wheels, root + "/wheel", ignore=lambda d, names: [n for n in names if not n.endswith(".whl")])
            case "CMD":
                self.command = json.loads(text)
            case "EXPOSE":
                self.ports.append(int(text))
            case _:
                raise ValueError(f"{instruction}: this script does not know the instruction")


def use(image):
    """The user is not root, has the kernel, and runs a notebook."""
    image.run('test "$(id -u)" = 1000 && ! command -v go && jupyter kernelspec list && warpbook doctor')
    image.run("warpbook run notebooks/03-transpose.ipynb --quiet --out report && test -s report/03-transpose.html")
    print(f"from the wheel to an executed notebook: {time.time() - image.installed:.1f} s", flush=True)


def serve(image, command):
    """A command starts a server that offers the kernel."""
    server = subprocess.Popen(image.argv(f"exec {command} --ServerApp.token=x --port=18899"), stderr=subprocess.DEVNULL)
    try:
        for _ in range(120):
            try:
                kernels = json.load(urllib.request.urlopen("http://127.0.0.1:18899/api/kernelspecs?token=x", timeout=5))
                break
            except OSError:
                time.sleep(1)
        assert "warpbook" in kernels["kernelspecs"], kernels
        print(command, "offers", ", ".join(kernels["kernelspecs"]), flush=True)
    finally:
        server.terminate()
        server.wait(timeout=60)


def others(image, container):
    """A development container attaches as its user, and Binder names the user and starts classic notebooks."""
    assert container["remoteUser"] == image.user, f"the container's user is {container['remoteUser']}, the image's {image.user}"
    assert container["forwardPorts"] == image.ports, f"the container forwards {container['forwardPorts']}, the image exposes {image.ports}"
    serve(image, container["postAttachCommand"])
    binder = Image(NB_USER="jovyan", NB_UID="1001")  # 1000 is taken here
    for instruction, text in steps(".binder/Dockerfile"):
        made = instruction == "COPY" or instruction == "RUN" and ("apt-get" in text or "pip " in text)
        if not made:
            binder.step(instruction, text)
    assert binder.user == "jovyan", binder.user
    binder.run("test -s notebooks/01-reduce.ipynb && jupyterhub-singleuser --version")
    serve(binder, "jupyter notebook --ip=0.0.0.0 --no-browser")


def main():
    files, container = dockerfiles()
    for path in files:
        assert open(path).read() == open("install/Dockerfile").read(), f"{path} differs from install/Dockerfile: cp install/Dockerfile {path}"
    make_root()
    subprocess.run(["mount", "-t", "proc", "proc", root + "/proc"], check=True)
    try:
        image = Image()
        for instruction, text in steps("install/Dockerfile"):
            if instruction == "RUN" and "/wheel/" in text:
                image.installed = time.time()
            image.step(instruction, text)
        use(image)
        serve(image, shlex.join(image.command))
        others(image, container)
    finally:
        subprocess.run(["umount", "-l", root + "/proc"])


main()
