#!/usr/bin/env python3
"""Hermes Agent's own scheduler and job store, driven by a test over stdin and stdout.

Run by the interpreter of a virtual environment that has the package. Each line is a request, one JSON
object; each is answered by one line. `at` sets the clock that the program goes by, and it stands there
until the next request that has one. Nothing here leaves the host.
"""
import contextlib
import datetime
import json
import logging
import os
import sys
import time

instant = None


def fixed_now():
    zone = hermes_time.get_timezone() or datetime.timezone.utc
    return instant.astimezone(zone)


import hermes_time  # noqa: E402  (the modules below take its `now` by name)

hermes_time.now = fixed_now
time.time = lambda: instant.timestamp()
instant = datetime.datetime.fromisoformat("2026-06-17T10:00:00+00:00")

from cron import executions, jobs, scheduler  # noqa: E402


def tick(_):
    return scheduler.tick(verbose=False, sync=True)


def create(asked):
    return jobs.create_job(**asked["job"])


def read(_):
    return jobs.list_jobs(include_disabled=True)


def pause(asked):
    return jobs.pause_job(asked["id"])


def resume(asked):
    return jobs.resume_job(asked["id"])


def remove(asked):
    return jobs.remove_job(asked["id"])


def runs(asked):
    return executions.list_executions(job_id=asked["id"])


def recover(_):
    return executions.recover_interrupted_executions()


def main():
    logging.disable(logging.CRITICAL)
    global instant
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    for line in sys.stdin:
        asked = json.loads(line)
        if "at" in asked:
            instant = datetime.datetime.fromisoformat(asked["at"])
        act = {
            "tick": tick, "create": create, "list": read, "pause": pause, "resume": resume,
            "remove": remove, "runs": runs, "recover": recover,
        }[asked["do"]]
        try:
            with contextlib.redirect_stdout(sys.stderr):
                answer = {"ok": act(asked)}
        except Exception as error:  # the test says what it expected
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer, default=str) + "\n")


if __name__ == "__main__":
    main()
