"""--shard auto in an array of a real SLURM on this machine; run by tests/long slurm."""
import getpass
import os
import shutil
import socket
import subprocess
import time

import pytest

import png_file
from conftest import BINARY, files_below

CONFIGURATION = """
ClusterName=satin
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/ctld.pid
SlurmdPidFile={folder}/d.pid
SlurmctldLogFile={folder}/ctld.log
SlurmdLogFile={folder}/d.log
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
MpiDefault=none
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES State=UP
"""


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@pytest.fixture
def slurm(satin, tmp_path):
    """The environment of a cluster of this machine, with keys and folders of its own."""
    for program in ("slurmctld", "slurmd", "munged", "sbatch"):
        if shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin") is None:
            pytest.skip(f"{program} (Debian: slurm-wlm, munge) is not installed")
    folder = tmp_path / "slurm"
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    os.chmod(folder, 0o755)
    (folder / "key").write_bytes(os.urandom(128))
    os.chmod(folder / "key", 0o400)
    host = socket.gethostname().split(".")[0]
    (folder / "slurm.conf").write_text(CONFIGURATION.format(
        folder=folder, host=host, user=getpass.getuser(), ports=free_ports(2), cpus=os.cpu_count()))
    environment = {**satin.environment, "SLURM_CONF": str(folder / "slurm.conf"),
                   "PATH": os.environ["PATH"] + ":/usr/sbin"}
    daemons = [
        ["munged", "--foreground", "--force", f"--key-file={folder}/key", f"--socket={folder}/munge.socket",
         f"--pid-file={folder}/munge.pid", f"--log-file={folder}/munge.log", f"--seed-file={folder}/munge.seed"],
        ["slurmctld", "-D"],
        ["slurmd", "-D", "-N", host],
    ]
    running = []
    for daemon in daemons:
        with open(folder / (daemon[0] + ".out"), "w") as output:
            running.append(subprocess.Popen(daemon, env=environment, stdout=output, stderr=subprocess.STDOUT))
        time.sleep(1)
    yield environment
    for process in reversed(running):
        process.terminate()
        process.wait(30)


def test_an_array_does_a_folder_once(satin, noise, slurm):
    (satin.folder / "in").mkdir()
    for i in range(24):
        png_file.write(satin.folder / "in" / f"{i}.png", noise((5, 6), seed=i))
    line = f"'{BINARY}' blur in -o out --radius 1 --resume --shard auto --report part-$SLURM_ARRAY_TASK_ID.jsonl"
    submitted = subprocess.run(["sbatch", "--wait", "--array=3-9:3%2", "--output=%A-%a.log", "--wrap", line],
                               cwd=satin.folder, env=slurm, capture_output=True, text=True, timeout=120)
    logs = "".join(path.read_text() for path in satin.folder.glob("*.log"))
    assert submitted.returncode == 0, (submitted.stderr, logs)
    assert [name for name in files_below(satin.folder / "out") if name.endswith(".png")] == files_below(satin.folder / "in")
    for index, task in enumerate((3, 6, 9), 1):
        shard = satin.good("blur", "in", "-o", "other", "--radius", "1", "--dry-run", "--shard", f"{index}/3")
        done = (satin.folder / f"part-{task}.jsonl").read_text().count('"status": "done"')
        assert done - 1 == len([row for row in shard.stdout.splitlines() if row.startswith(b"write")])
