#!/usr/bin/env python3
"""A client of Hermes Agent's backend, by its protocol alone: it knows nothing of this program.

    HERMES_DASHBOARD_SESSION_TOKEN=... tests/oracle/backend_client.py PORT

It makes a session, streams a turn, sets a loop and drops its connection. Then it prints `dropped`, waits
for a line on stdin, comes back, and looks at what it missed. It prints `ok` at the end, or breaks.
Only the standard library is used.
"""

import base64
import hashlib
import json
import os
import re
import socket
import struct
import sys

PORT = int(sys.argv[1])
TOKEN = os.environ["HERMES_DASHBOARD_SESSION_TOKEN"]
GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Backend:
    """One connection: JSON-RPC 2.0, one object a text frame."""

    def __init__(self):
        self.socket = socket.create_connection(("127.0.0.1", PORT), timeout=60)
        self.file = self.socket.makefile("rb")
        self.number = 0
        self.events = []
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((
            f"GET /api/ws?token={TOKEN} HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
        ).encode())
        assert b" 101 " in self.file.readline()
        headers = {}
        while (line := self.file.readline().strip()):
            name, value = line.decode().split(":", 1)
            headers[name.lower()] = value.strip()
        accept = base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()
        assert headers["sec-websocket-accept"] == accept
        self.ready = self.event("gateway.ready")["payload"]

    def send(self, message):
        body = json.dumps(message).encode()
        mask = os.urandom(4)
        head = struct.pack("!BBH", 0x81, 0x80 | 126, len(body))
        masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(body))
        self.socket.sendall(head + mask + masked)

    def frame(self):
        while True:
            first, length = self.file.read(2)
            if length == 126:
                (length,) = struct.unpack("!H", self.file.read(2))
            elif length == 127:
                (length,) = struct.unpack("!Q", self.file.read(8))
            body = self.file.read(length)
            if first & 0x0f == 1:
                message = json.loads(body)
                assert message["jsonrpc"] == "2.0", message
                return message

    def take(self, message):
        assert message["method"] == "event" and "id" not in message, message
        self.events.append(message["params"])

    def ask(self, method, **params):
        self.number += 1
        name = f"a{self.number}"
        self.send({"jsonrpc": "2.0", "id": name, "method": method, "params": params})
        while (message := self.frame()).get("id") != name:
            self.take(message)
        return message

    def call(self, method, **params):
        answer = self.ask(method, **params)
        assert "error" not in answer, (method, answer)
        return answer["result"]

    def refused(self, method, **params):
        return self.ask(method, **params)["error"]["code"]

    def event(self, kind):
        """The next event of a kind; those before it stay where they are."""
        seen = 0
        while True:
            for at in range(seen, len(self.events)):
                if self.events[at]["type"] == kind:
                    return self.events.pop(at)
            seen = len(self.events)
            self.take(self.frame())


def without_gap(events, after):
    """Events of a session are numbered one by one."""
    for number, event in enumerate(events, after + 1):
        assert event["seq"] == number, (event, number)


def meet(backend):
    assert backend.ready["change_events"] is True and backend.ready["heartbeat"] is True
    assert backend.ready["skin"] == {} and backend.ready["replay_epoch"]
    assert backend.call("ping") == {"pong": True}
    assert backend.call("gateway.ping") == {"ok": True}
    assert backend.call("gateway.capabilities")["per_session_exclusive_submit"] is True
    known = backend.call("client.capabilities", server_requests=["approval"])
    assert known["server_requests"] == ["approval"] and "declines_not_shown" in known
    setup = backend.call("setup.status")
    assert setup["provider_configured"] is True and setup["ready"] is True
    assert backend.refused("no.such.method") == -32601
    assert backend.refused("session.status", session_id="00000000") == 4001
    assert backend.refused("session.status") == 4006
    assert backend.refused("session.resume", session_id="never seen") == 4007


def stream(backend, session):
    answer = backend.call("prompt.submit", session_id=session, text="ask: hello")
    assert answer["status"] == "streaming" and isinstance(answer["user_row_id"], int)
    for kind in ("message.start", "message.delta", "message.complete"):
        event = backend.event(kind)
        assert event["session_id"] == session and event["seq"] >= 1
        if kind == "message.delta":
            assert event["payload"]["text"]
    payload = event["payload"]
    assert payload["text"] == "all good" and payload["status"] == "complete", payload
    assert payload["usage"] == {} and payload["persisted_turn"]["complete"] is True
    assert answer["user_row_id"] in payload["persisted_turn"]["row_ids"]


def set_loop(backend, session):
    backend.events.clear()
    arg = "5m ask: check the build --times 9"
    answer = backend.call("command.dispatch", name="loop", arg=arg, session_id=session)
    assert answer["type"] == "exec" and answer["output"]
    before = [event["type"] for event in backend.events]
    assert "session.control.update" in before, before
    assert backend.event("status.update")["payload"]["kind"] == "loop"
    done = backend.event("message.complete")
    control = backend.call("session.control.read", session_id=session)["control"]
    assert control["goal"] is None and control["heartbeat"] is None
    assert len(control["revision"]) == 64 and control["updated_at"] > 0
    loop = control["loop"]
    assert loop["status"] == "active" and loop["times"] == 9 and loop["mode"] == "interval"
    assert loop["route"] == {} and loop["ticks_fired"] == 1
    return max([event["seq"] for event in backend.events if "seq" in event] + [done["seq"]])


def come_back(stored, session, seen, epoch):
    backend = Backend()
    assert backend.ready["replay_epoch"] == epoch, "it is the same backend"
    resumed = backend.call("session.resume", session_id=stored)
    assert resumed["session_id"] == session and resumed["resumed"] == stored
    assert resumed["running"] is False and resumed["status"] == "idle"
    assert resumed["queued"] == {"user": []} and resumed["open_requests"] == []
    assert [message["role"] for message in resumed["messages"]][:2] == ["user", "assistant"]
    missed = backend.call("session.events.since", session_id=session, last_seen=seen)
    assert missed["truncated"] is False and missed["epoch"] == epoch
    assert missed["count"] == len(missed["events"]) > 0
    without_gap(missed["events"], seen)
    assert missed["latest_seq"] == missed["events"][-1]["seq"]
    done = [event for event in missed["events"] if event["type"] == "message.complete"]
    assert len(done) == 2, "the two wake-ups that were left"
    loop = backend.call("session.control.read", session_id=session)["control"]["loop"]
    assert loop["status"] == "active" and loop["ticks_fired"] == 3
    return backend


def look_around(backend, stored, session):
    listed = backend.call("session.list", limit=5)["sessions"]
    assert listed[0]["id"] == stored and {"title", "preview", "started_at", "source"} <= set(listed[0])
    live = backend.call("session.active_list", current_session_id=session)["sessions"]
    assert [(one["id"], one["session_key"], one["current"]) for one in live] == [(session, stored, True)]
    assert backend.call("session.most_recent")["session_id"] == stored
    assert backend.call("session.history", session_id=session)["messages"]
    assert "usage" in backend.call("session.usage", session_id=session)
    backend.call("session.title", session_id=session, title="a title")
    assert backend.call("session.resume", session_id="a title")["session_id"] == session
    assert backend.call("session.interrupt", session_id=session)["status"] == "not_interrupted"
    assert backend.call("slash.exec", session_id=session, command="/heartbeat every 5m ask: beat")["output"]
    control = backend.call("session.control", session_id=session, action="heartbeat.clear")["control"]
    assert control["heartbeat"]["status"] == "cleared"
    assert backend.refused("session.delete", session_id=session) == 4023
    assert backend.call("session.close", session_id=session)["closed"] is True
    assert backend.call("session.active_list")["sessions"] == []
    assert backend.call("session.delete", session_id=stored)["deleted"]


def main():
    backend = Backend()
    meet(backend)
    made = backend.call("session.create", cols=100, source="desktop")
    session, stored = made["session_id"], made["stored_session_id"]
    assert re.fullmatch("[0-9a-f]{8}", session), made
    assert re.fullmatch(r"\d{8}_\d{6}_[0-9a-f]{6}", stored), made
    assert made["message_count"] == 0 and made["messages"] == [] and made["info"]["lazy"] is True
    stream(backend, session)
    seen = set_loop(backend, session)
    backend.socket.close()
    backend.file.close()
    print("dropped", flush=True)
    sys.stdin.readline()
    backend = come_back(stored, session, seen, backend.ready["replay_epoch"])
    look_around(backend, stored, session)
    print("ok", flush=True)


main()
