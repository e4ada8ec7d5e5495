"""Commands of isotherm, each in a process of its own, forked from one that has loaded the program.

Loading takes longer than most commands that tests run. What a command does, where it reads and
writes and how it ends is as with ``python -m isotherm``; `test_environment` and others start it
that way. Run as a program, this is the server: a line of JSON asks for a command, a line tells its
exit code.
"""

import json
import os
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory


def run_command(arguments, *, folder, environment, stdin):
    """Run a command to its end; as `subprocess.run` does, with text."""
    if not hasattr(os, "fork"):
        return subprocess.run(
            [sys.executable, "-m", "isotherm", *arguments],
            capture_output=True,
            text=True,
            env=environment,
            cwd=folder,
            input=stdin,
            check=False,
        )
    with TemporaryDirectory() as streams:
        files = [Path(streams) / name for name in ("stdin", "stdout", "stderr")]
        files[0].write_text(stdin or "", encoding="utf-8")
        asked = {
            "arguments": [os.fspath(argument) for argument in arguments],
            "folder": os.fspath(folder or Path.cwd()),
            "environment": dict(environment),
            "streams": list(map(str, files)),
        }
        server = _server()
        server.stdin.write(json.dumps(asked).encode() + b"\n")
        server.stdin.flush()
        code = int(server.stdout.readline())
        output, errors = (file.read_text(encoding="utf-8") for file in files[1:])
    return subprocess.CompletedProcess(arguments, code, output, errors)


@cache
def _server():
    return subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def _serve():
    for module in ("isotherm.__main__", "isotherm.cli", "isotherm.pipeline", "pyarrow.parquet"):
        import_module(module)
    # Commands have streams of their own.
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(nothing, stream)
    for line in requests:
        child = os.fork()
        if child == 0:
            _become(**json.loads(line))
        _, status = os.waitpid(child, 0)
        answers.write(b"%d\n" % os.waitstatus_to_exitcode(status))
        answers.flush()


def _become(arguments, folder, environment, streams):
    """The command; never returns."""
    from isotherm.__main__ import __file__ as program
    from isotherm.__main__ import main

    for stream, (path, how) in enumerate(
        zip(streams, (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT), strict=True)
    ):
        os.dup2(os.open(path, how), stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [program, *arguments]
    main()


if __name__ == "__main__":
    _serve()
