"""Serves MongoDB's wire protocol in front of a tidegate, for the suite documentdb/functional-tests.

`adapter.py --url URL [--database-url URL] [--port 0] [--not-applicable FILE]` prints the connection string to use.
URL is the base of a Data API whose requests run as system, as `app/` beside this file configures it.
"""

import argparse

from commands import Commands
from gateway import Gateway
from wire import Server


def main():
    """Listens until it is killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--database-url")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--not-applicable", default="/dev/null")
    settings = parser.parse_args()
    # One line for each command that does not apply: the database, whose name tells the test.
    with open(settings.not_applicable, "a", buffering=1, encoding="utf-8") as notes:
        commands = Commands(
            Gateway(settings.url, settings.database_url), lambda database: notes.write(database + "\n")
        )
        with Server(settings.port, commands.answer) as server:
            print(f"mongodb://127.0.0.1:{server.server_address[1]}/", flush=True)
            server.serve_forever()


if __name__ == "__main__":
    main()
