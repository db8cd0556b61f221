"""The attackers and the sink as processes."""

import json
import signal
import subprocess

ATTACKS = ("silent", "no-first-message", "half-fpdu", "drip", "flood", "never-read", "fin-unread",
           "no-receive", "terminates", "abandoned")
END_SECONDS = 20
FLOOD_PAUSE = 10  # milliseconds: these come back as fast as the rate allows


def stop(process):
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Sink:
    """Takes, reads and throws away; cuts off so many connections a second."""

    def __init__(self, program, cuts):
        self.process = subprocess.Popen([program, "sink", "--cut", str(cuts)],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def stop(self):
        stop(self.process)
        self.process.stdout.close()


class Assault:
    """So many attackers at a port, until they are stopped."""

    def __init__(self, program, attack, speaks, port, options, blind=False):
        pause = FLOOD_PAUSE if attack == "flood" else options.pause
        self.process = subprocess.Popen(
            [program, "attack", attack, "--server", speaks, "--port", str(port), "--attackers",
             str(options.attackers), "--addresses", options.addresses, "--rate", str(options.rate),
             "--pause", str(pause), "--blind", "yes" if blind else "no"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        if not self.process.stdout.readline():
            raise RuntimeError("the attackers did not start")

    def tally(self):
        """What they have done so far."""
        self.process.send_signal(signal.SIGUSR1)
        return json.loads(self.process.stdout.readline())

    def stop(self):
        stop(self.process)
        told = json.loads(self.process.stdout.readline())
        self.process.stdout.close()
        return told
