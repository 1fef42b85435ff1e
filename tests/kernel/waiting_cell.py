"""What a kernel runs so that its cells can wait: `wait()`, and a comm that ends it."""

from __future__ import annotations

PREPARE = """
import os
import threading
from comm import create_comm
from IPython import get_ipython
from acp_notebook.kernel.waiting.pump import JobInterruptedError, Pump, WaitEvent, run_on_main

kernel, seen, done = get_ipython().kernel, [], WaitEvent()

def on_message(message):
    data = message["content"]["data"]
    seen.append(data)
    if data == "end":
        done.set()
    elif callable(globals().get(data)):
        globals()[data]()

def wait():
    global done
    done = WaitEvent()
    seen.clear()
    with Pump(kernel) as pump:
        assert pump.usable, pump.why_unusable
        print("waiting", flush=True)
        assert pump.wait(done, timeout_s=15), "the wait was not ended"

probe = create_comm(target_name="probe")
probe.on_msg(on_message)
print(probe.comm_id)
"""
