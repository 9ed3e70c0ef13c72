"""warpbook sweep --engine slurm on a real cluster of one machine.

Usage: slurm_test.py WARPBOOK FOLDER [--short]. Starts munged, slurmctld and two
slurmd without systemd and cgroups. In the whole form a node is killed in the middle
of the array and the follower is interrupted; every point must pass all the same.
"""
import os
import pathlib
import signal
import subprocess
import sys
import time

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

warpbook, folder = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).absolute()
short = "--short" in sys.argv
host = os.uname().nodename
failures = 0


def check(what, good, detail=""):
    global failures
    failures += not good
    print("ok  " if good else "FAIL", what, detail if not good else "", flush=True)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


folder.mkdir(parents=True)
(folder / "munge.key").write_bytes(os.urandom(1024))
(folder / "munge.key").chmod(0o400)
for name in "state", "n1", "n2":
    (folder / name).mkdir()
(folder / "slurm.conf").write_text(f"""
ClusterName=warpbook
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort=16817
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SlurmdTimeout=8
KillWait=2
JobRequeue=1
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SchedulerParameters=batch_sched_delay=1,sched_interval=1
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port=16821 CPUs=1 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port=16822 CPUs=1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
""")
os.environ["SLURM_CONF"] = str(folder / "slurm.conf")


def sweep(points, *more):
    command = [warpbook, "sweep", folder / "wait.ipynb", "--engine", "slurm", "--partition", "all", "--time", "10:00",
               "--set", "n=" + ",".join(map(str, points)), "--out", folder / "sweep", *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def lose(node):
    """Kills the node's slurmd, its steps, and everything that they started."""
    daemon = int((folder / f"{node}.pid").read_text())
    processes = list(pathlib.Path("/proc").glob("[0-9]*"))
    jobs = [int(p.name) for p in processes if belongs(p, node)]
    steps = {parent(pathlib.Path(f"/proc/{pid}")) for pid in jobs} - {0, 1, *jobs}
    for pid in [daemon, *steps, *jobs]:  # steps before their jobs, whose end they would report
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass


def belongs(process, node):
    return f"SLURMD_NODENAME={node}\0".encode() in read(process / "environ")


def read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def parent(process):
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def passed():
    return len(list((folder / "sweep" / "points").glob("*/wait.json")))


def until(what, done, seconds=240):
    deadline = time.time() + seconds
    while not done() and time.time() < deadline:
        time.sleep(0.2)
    check(what, done())


try:
    run("munged", "--force", f"--key-file={folder}/munge.key", f"--socket={folder}/munge.socket", f"--pid-file={folder}/munge.pid",
        f"--log-file={folder}/munge.log", f"--seed-file={folder}/munge.seed")
    run("slurmctld", "-f", folder / "slurm.conf")
    for node in "n1", "n2":
        run("slurmd", "-N", node, "-f", folder / "slurm.conf")
    until("both nodes are idle", lambda: subprocess.run(["sinfo", "-h", "-N", "-o", "%t"], capture_output=True, text=True).stdout.split() == ["idle", "idle"])
    declare = new_code_cell("n := 1")
    declare.metadata["tags"] = ["parameters"]
    wait = new_code_cell('import "time"\ntime.Sleep(%d * time.Second)\nn * n' % (1 if short else 5))
    nbformat.write(new_notebook(cells=[declare, wait], metadata={"kernelspec": {"name": "warpbook", "display_name": "Go (warpbook)", "language": "go"}}), folder / "wait.ipynb")
    points = range(1, 4 if short else 9)
    first = sweep(points, "--concurrency", "2")
    until("a first point passes", lambda: passed() > 0)
    if not short:
        first.send_signal(signal.SIGINT)
        out = first.communicate(timeout=30)[0]
        check("an interrupted follower leaves the job", first.returncode == 130 and "continues on the cluster" in out, out)
        until("a point runs on n2", lambda: "n2" in run("squeue", "-h", "-t", "RUNNING", "-o", "%N"))
        lose("n2")
        first = sweep(points)
    out = first.communicate(timeout=600)[0]
    check("every point passes", first.returncode == 0 and passed() == len(points), out)
    if not short:
        check("the second follower took the job over", "still runs" in out and "submitted" not in out, out)
        check("a node was lost", "down" in run("sinfo", "-h", "-N", "-o", "%t"), run("sinfo", "-N"))
    again = sweep(points)
    out = again.communicate(timeout=240)[0]
    check("nothing is run twice", again.returncode == 0 and "0 of" in out and "submitted" not in out, out)
finally:
    for name in "slurmctld", "n1", "n2", "munge":
        try:
            os.kill(int((folder / f"{name}.pid").read_text()), signal.SIGKILL)
        except (OSError, ValueError):
            pass
    if failures:
        for log in folder.glob("*.log"):
            print("===", log.name, log.read_text()[-2000:])
sys.exit(failures != 0)
