"""What can be known here of the examples for many machines, without Slurm and containers."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.main import get_command

from isotherm.cli import app

pytestmark = pytest.mark.core_free

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "examples" / "many-machines"
SCRIPTS = [FOLDER / "mpiexec.sh", FOLDER / "slurm.sbatch"]
DOCKERFILE = (FOLDER / "Dockerfile").read_text(encoding="utf-8")
CALL = re.compile(r"""(?:^|[\s"}])(?:-m\ isotherm_petsc|isotherm)"?\ (?!import)(.*)""", re.VERBOSE)


def manifests(name):
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))


def launched(name):
    """The command that starts the ranks of a container."""
    found = manifests(name)
    if name == "compose.yaml":
        command = found["services"]["first"]["command"]
        return re.search(r"mpiexec .*(?=\")", command)[0]
    launcher = found["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]
    assert launcher["command"] == ["sh", "-c"]
    (command,) = launcher["args"]
    return command


def lines_of_code(path):
    """Without comments, those that go on joined."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        text = "\n".join(re.findall(r"```(?:bash|text)\n(.*?)```", text, re.DOTALL))
    return re.sub(r"\\\n\s*", " ", re.sub(r"^ *#.*\n", "", text, flags=re.MULTILINE)).splitlines()


def check_call(given):
    """See that a command of isotherm, and each of its options, exists."""
    name, *words = re.findall(r'"[^"]*"|\S+', given.split(" #")[0])
    commands = get_command(app).commands
    assert name in commands, given
    known = {option for parameter in commands[name].params for option in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= known, given


@pytest.mark.parametrize(
    "path",
    [
        *SCRIPTS,
        ROOT / "docs" / "many-machines.md",
        ROOT / "extras" / "isotherm_petsc" / "README.md",
    ],
    ids=lambda path: path.name,
)
def test_every_command_and_option_exists(path):
    if path.name == "README.md":
        lines = re.findall(r"^    (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    else:
        lines = lines_of_code(path)
    calls = [found[1] for line in lines if (found := CALL.search(line))]
    assert len(calls) >= (1 if path.name == "slurm.sbatch" else 2)
    for call in calls:
        check_call(call)


@pytest.mark.parametrize("name", ["compose.yaml", "kubernetes.yaml"])
def test_containers_start_ranks_by_one_whole_command(name):
    command = launched(name)
    assert "\n" not in command
    check_call(CALL.search(command)[1])
    # Processes on other machines have it from nowhere else, and petsc4py is found by it.
    assert "ENV PETSC_DIR=" in DOCKERFILE
    assert " -x PETSC_DIR " in command


def test_containers_are_what_ranks_are_started_on():
    services = manifests("compose.yaml")["services"]
    for service in services.values():
        build = service["build"]
        assert (FOLDER / build["context"] / build["dockerfile"]).resolve() == FOLDER / "Dockerfile"
    command = launched("compose.yaml")
    assert re.search(r"--host (\S+)", command)[1].split(",") == list(services)
    assert f" -n {len(services)} " in command
    spec = manifests("kubernetes.yaml")["spec"]
    ranks = spec["slotsPerWorker"] * spec["mpiReplicaSpecs"]["Worker"]["replicas"]
    assert f" -n {ranks} " in launched("kubernetes.yaml")
    assert " /src/extras/isotherm_petsc " in DOCKERFILE


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_sound(path):
    bash, shellcheck = shutil.which("bash"), shutil.which("shellcheck")
    if bash is None:
        pytest.skip("there is no bash")
    subprocess.run([bash, "-n", str(path)], check=True)
    if shellcheck is not None:
        options = [
            "--shell=bash",
            "--external-sources",
            "--source-path=SCRIPTDIR",
            "--exclude=SC1091",
        ]
        subprocess.run([shellcheck, *options, str(path)], check=True)


def test_what_open_mpi_is_told_is_in_one_place():
    told = (FOLDER / "open_mpi.env").read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(r"[A-Z]\w+=\S+", line) for line in told if not line.startswith("#"))
    others = [*ROOT.glob("benchmarks/*.py"), *ROOT.glob("extras/*/**/*.py"), *SCRIPTS]
    others = [path for path in others if "OMPI_ALLOW" in path.read_text(encoding="utf-8")]
    assert not others
