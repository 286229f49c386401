"""The server and its workers die at any moment; what they show afterwards is what is in the files."""

import os
import random
import time


def test_a_server_killed_at_any_moment_starts_again_with_the_same_data(base, server):
    chance, end = random.Random(1), 0
    for _ in range(2):
        for name in ("a", "b", "c"):
            base.run(name, end, end + 20_000)
        end += 20_000
        server.start()
        time.sleep(chance.uniform(0, 0.6))
        server.kill()
    server.start()
    assert server.shows(a=end - 1, b=end - 1, c=end - 1) is True
    assert all(run["damage"] == 0 for run in server.runs().values())
    assert server.get("v2/scalar/series?run=./a&tag=loss&px=0")["series"][0]["count"] == end


def test_workers_end_with_a_killed_server(base, server, wait):
    os.truncate(base.run("a"), 300 << 20)  # so much to read, as it seems, that workers are started
    server.start()
    below = wait(server.children, 10)
    assert below
    server.kill()
    assert wait(lambda: not any(alive(pid) for pid in below))


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
