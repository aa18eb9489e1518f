"""tidegate as the adapter sees it: the Data API over HTTP, and psql for what is administered in SQL."""

import http.client
import os
import queue
import re
import subprocess
import threading
import urllib.parse

import bson
from bson import json_util
from bson.codec_options import DatetimeConversion

OPTIONS = json_util.JSONOptions(
    json_mode=json_util.JSONMode.CANONICAL,
    document_class=dict,
    datetime_conversion=DatetimeConversion.DATETIME_MS,
)
DATABASE = "suite"
# A collection records so many key orders and no more (4,096); this leaves room.
TESTS_PER_COLLECTION = 200


class Refusal(Exception):
    """An error of MongoDB's, made here or by tidegate."""

    def __init__(self, code, name, message, writes=()):
        """A code, its name and its text; of several writes, which ones failed."""
        super().__init__(message)
        self.code, self.name, self.writes = code, name, writes


class NotApplicable(Refusal):
    """What tidegate has no way to be asked; a test that needs it is not counted."""

    def __init__(self, message):
        """The text says what was asked."""
        super().__init__(59, "CommandNotFound", f"[not applicable] {message}")


class Gateway:
    """One tidegate, with a kept-alive connection for each thread that asks."""

    def __init__(self, url, database_url):
        """The base URL of the app's Data API; where psql finds its database, or None."""
        self.url = urllib.parse.urlsplit(url)
        self.database_url = database_url
        self.local = threading.local()

    def call(self, action, collection, body):
        """Performs an action of the Data API: the answer's members, or a `Refusal`."""
        members = {"dataSource": "mongodb-atlas", "database": DATABASE, "collection": collection} | body
        check_sayable(body)
        text = json_util.dumps(members, json_options=OPTIONS).encode("utf-8", "surrogatepass")
        status, answer = self.post(f"{self.url.path}/action/{action}", text)
        if status == 404 and not answer:
            raise NotApplicable(f"tidegate has no action {action}")
        members = json_util.loads(answer, json_options=OPTIONS) if answer else {}
        if status < 300:
            return members
        code = members.get("code", 8)
        name = members.get("codeName") or members.get("error_code") or "UnknownError"
        writes = members.get("writeErrors", ())
        raise Refusal(code, name, str(members.get("error", f"status {status}")), writes)

    def post(self, path, body):
        """Sends a body; once more when the kept connection turned out to be closed."""
        headers = {"Content-Type": "application/ejson", "Accept": "application/ejson"}
        for attempt in (0, 1):
            connection = getattr(self.local, "connection", None)
            if connection is None:
                connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=120)
                self.local.connection = connection
            try:
                connection.request("POST", path, body, headers)
                response = connection.getresponse()
                return response.status, response.read()
            except (http.client.HTTPException, ConnectionError):
                connection.close()
                self.local.connection = None
                if attempt:
                    raise

    def sql(self, statement, **values):
        """Runs a statement in psql, whose `:'name'` stand for values; returns its output's lines."""
        if not self.database_url:
            raise NotApplicable("SQL without TIDEGATE_DATABASE_URL")
        arguments = [part for item in values.items() for part in ("-v", "=".join(item))]
        done = subprocess.run(
            ["psql", "-qXAt", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose", *arguments, "-d", self.database_url],
            input=statement, capture_output=True, text=True, check=False,
        )
        if done.returncode:
            raise Refusal(*sql_error(done.stderr))
        return done.stdout.splitlines()


def check_sayable(value):
    """Refuses what Extended JSON has no text for: a decimal NaN with a sign."""
    if isinstance(value, bson.Decimal128):
        if value.bid[-1] & 0xFC == 0xFC:
            raise NotApplicable("the sign of a decimal NaN")
    elif isinstance(value, dict):
        for member in value.values():
            check_sayable(member)
    elif isinstance(value, list):
        for member in value:
            check_sayable(member)


def sql_error(text):
    """Code, name and text of what psql reports; MongoDB's code where tidegate's text names one."""
    first = next((line for line in text.splitlines() if "ERROR:" in line), text.strip())
    if "23505" in first:
        return 11000, "DuplicateKey", first
    found = re.search(r"MongoDB (?:code|error) (\d+)", text)
    return int(found[1]) if found else 67, "CannotCreateIndex", first


class Collections:
    """Lends collections of tidegate to the names that tests use.

    Each test has a database and a collection of its own. Making and dropping a table for each would take most of
    the time, so that names share tables one after the other, which are emptied in between.
    """

    def __init__(self, gateway):
        """Collections of this gateway."""
        self.gateway = gateway
        self.lock = threading.Lock()
        self.lent = {}
        self.free = queue.SimpleQueue()
        self.made = 0
        self.run = f"{os.getpid()}_{bson.ObjectId()}"

    def find(self, database, name):
        """The collection behind a name, or None."""
        return self.lent.get((database, name))

    def lend(self, database, name, is_made=True):
        """The collection behind a name; a name that is new gets one, which is there or only named."""
        with self.lock:
            if (database, name) not in self.lent:
                self.lent[database, name] = self.take()
                self.lent[database, name].is_made = False
            self.lent[database, name].is_made |= is_made
            return self.lent[database, name]

    def note_made(self, stored):
        """Takes note that `$out` has made a collection, by its name in tidegate: with or without documents."""
        with self.lock:
            for collection in self.lent.values():
                collection.is_made |= collection.name == stored

    def take(self):
        """An empty collection."""
        try:
            return self.free.get_nowait()
        except queue.Empty:
            self.made += 1
            return Collection(f"{self.run}_{self.made}")

    def drop(self, database, name):
        """Empties the collection behind a name and takes it back; whether there was one."""
        with self.lock:
            collection = self.lent.pop((database, name), None)
        if collection is None:
            return False
        collection.uses += 1
        if collection.is_changed:
            self.gateway.sql(
                "select tidegate.drop_collection(:'database', :'name', with_documents => true)",
                database=DATABASE, name=collection.name,
            )
        else:
            if collection.is_written:
                self.gateway.call("deleteMany", collection.name, {"filter": {}})
                collection.is_written = False
            if collection.uses < TESTS_PER_COLLECTION:
                self.free.put(collection)
        return True

    def names(self, database):
        """The names in a database, in the order of their making."""
        with self.lock:
            return [name for owner, name in self.lent if owner == database]


class Collection:
    """A collection of tidegate: its name there, and what must be undone before it is lent again."""

    def __init__(self, name):
        """A new one, which tidegate makes with the first document."""
        self.name = name
        self.uses = 0
        self.is_written = False
        # It has indexes that another test must not meet.
        self.is_changed = False
        # What was asked of createIndexes.
        self.indexes = []
        # Whether MongoDB would have it; the table behind it may have been made for another test.
        self.is_made = False
        self.has_table = False
