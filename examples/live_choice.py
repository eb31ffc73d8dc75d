"""A small HTTP service that chooses one of three layouts for each visitor and learns from what visitors do.

`POST /choose` returns a layout and a ticket, `POST /outcome?ticket=T&reward=R` reports how it went, at any later time.
The program starts the service, sends it simulated visitors from four threads, saves what was learned, and ends.
"""

import http.client
import json
import random
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

from driftwise import Session

LAYOUTS = ("list", "grid", "map")
RATES = {"list": 0.2, "grid": 0.7, "map": 0.3}  # chances of a click, which the service does not know
N_THREADS, N_VISITORS = 4, 40
file = Path(sys.argv[1] if len(sys.argv) > 1 else "layouts.npz")
session = Session.load(file) if file.exists() else Session(n_actions=len(LAYOUTS), feedback="bandit")
waiting: dict[str, tuple[int, float | None]] = {}  # by ticket: the choices whose outcome is still to come
shown: list[str] = []


class Handler(BaseHTTPRequestHandler):
    """Answers a request; every request has a thread of its own, and all share the session."""

    def do_POST(self) -> None:
        """Choose a layout, or take the outcome of an earlier choice."""
        url = urlsplit(self.path)
        if url.path == "/choose":
            choice, ticket = session.choose(), uuid4().hex
            waiting[ticket] = choice
            self.answer(200, {"layout": LAYOUTS[choice[0]], "ticket": ticket})
            return
        query = parse_qs(url.query)
        try:
            reward = float(query["reward"][0])
            session.update(*waiting.pop(query["ticket"][0]), reward=reward)  # a ticket is used once
        except (KeyError, ValueError) as error:  # an unknown ticket, or a reward outside [0, 1]
            self.answer(400, {"error": str(error)})
        else:
            self.answer(200, {})

    def answer(self, status: int, values: dict[str, str]) -> None:
        """Send values as JSON."""
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(values).encode())

    def log_message(self, *_: object) -> None:
        """Print nothing for each request."""


def visit(port: int, seed: int) -> None:
    """Send visitors one after the other; each clicks or not, and the outcome is reported."""
    draw, connection = random.Random(seed), http.client.HTTPConnection("127.0.0.1", port)
    for _ in range(N_VISITORS):
        connection.request("POST", "/choose")
        answer = json.load(connection.getresponse())
        shown.append(answer["layout"])
        reward = int(draw.random() < RATES[answer["layout"]])
        connection.request("POST", f"/outcome?ticket={answer['ticket']}&reward={reward}")
        connection.getresponse().read()


with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
    threading.Thread(target=server.serve_forever).start()
    threads = [threading.Thread(target=visit, args=(server.server_port, seed)) for seed in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    server.shutdown()
session.save(file)
print(f"{session.rounds} outcomes, {len(waiting)} waiting; shown most often: {max(LAYOUTS, key=shown.count)}")
