"""What both loggers share: JSON lines in on stdin, one answer line out on stdout.

The first line says how to start; every other is {"step": n, "metrics": {...}}; the end of stdin ends the run.
Answers: {"ready": {...}} once, or {"missing": "package"} or {"failed": "reason"} and exit code 1.
"""
import json
import os
import signal
import sys


def answer(**fields):
    sys.__stdout__.write(json.dumps(fields) + "\n")
    sys.__stdout__.flush()


def serve(package, start):
    """`start(options)` opens the run and returns (facts, log, finish); `log(metrics, step)` takes numbers."""
    # These go to the whole process group; the run must still be closed properly, when stdin ends.
    for name in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)
    sys.stdout = sys.stderr  # the SDKs print; stdout is for answers
    options = json.loads(sys.stdin.readline())
    try:
        facts, log, finish = start(options)
    except ImportError as error:
        answer(missing=package, detail=str(error))
        sys.exit(1)
    except Exception as error:  # whatever the SDK raises is for the reader to see
        answer(failed=f"{type(error).__name__}: {error}")
        sys.exit(1)
    answer(ready={**facts, "pid": os.getpid()})
    for line in sys.stdin:
        message = json.loads(line)
        log({name: float(value) for name, value in message["metrics"].items()}, message["step"])
    finish()
