"""The commands of MongoDB's drivers as requests to tidegate."""

import itertools
import json
import threading
import traceback

from bson import Code, Int64, ObjectId

from gateway import Collections, NotApplicable, Refusal

# A document for pipelines that begin with `$documents`, which asks for no collection.
SEED = ("suite", "seed")
UNLIMITED = 50_000
HELLO = {
    "helloOk": True, "ismaster": True, "isWritablePrimary": True, "maxBsonObjectSize": 16777216,
    "maxMessageSizeBytes": 48000000, "maxWriteBatchSize": 100000, "minWireVersion": 0, "maxWireVersion": 25,
    "readOnly": False,
}
# Members of find and aggregate that the Data API takes, or may come to take, under the same name.
READ_MEMBERS = ("filter", "projection", "sort", "limit", "skip", "collation", "let", "maxTimeMS", "hint")


# Members of commands that say nothing here.
SILENT_MEMBERS = {"$db", "$clusterTime", "$readPreference", "comment", "lsid"}
# What is understood of each command; one with another member asks for what the Data API cannot do.
MEMBERS = {
    "find": {*READ_MEMBERS, "batchSize", "singleBatch"},
    "aggregate": {"pipeline", "cursor", "collation", "let", "maxTimeMS", "hint", "explain"},
    "count": {"query", "skip", "limit", "collation", "maxTimeMS", "hint"},
    "distinct": {"key", "query", "collation", "maxTimeMS", "hint"},
    "insert": {"documents", "ordered"},
    "update": {"updates", "ordered", "let"},
    "delete": {"deletes", "ordered", "let"},
    "findandmodify": {
        "query", "sort", "fields", "upsert", "new", "arrayFilters", "collation", "let", "hint", "update", "remove",
        "maxTimeMS",
    },
    "getmore": {"collection", "batchSize"},
}


class Commands:
    """Answers commands; `note` is told the database of each test that asked for what does not apply."""

    def __init__(self, gateway, note):
        """For one tidegate."""
        self.gateway = gateway
        self.note = note
        self.collections = Collections(gateway)
        self.cursors = {}
        self.cursor_ids = itertools.count(1)
        self.seed_lock = threading.Lock()

    def answer(self, command):
        """The document that answers a command; a failure becomes MongoDB's error document."""
        name = next(iter(command))
        database = command.get("$db", "admin")
        method = getattr(self, f"run_{name.lower()}", None)
        try:
            if method is None:
                raise NotApplicable(f"no such command: '{name}'")
            check_members(name, command)
            return method(database, command) | {"ok": 1.0}
        except NotApplicable as refusal:
            self.note(database)
            return error(refusal)
        except Refusal as refusal:
            return error(refusal)
        except Exception as failure:  # The driver must get an answer, and the run must go on.
            traceback.print_exc()
            return error(Refusal(8, "UnknownError", f"the adapter failed: {failure!r}"))

    # Greetings

    def run_hello(self, database, command):
        """What drivers ask first."""
        return dict(HELLO)

    run_ismaster = run_hello

    def run_ping(self, database, command):
        """Is anybody there?"""
        return {}

    run_endsessions = run_ping

    def run_buildinfo(self, database, command):
        """The version whose answers the suite expects."""
        return {"version": "8.2.4", "versionArray": [8, 2, 4, 0], "maxBsonObjectSize": 16777216}

    def run_whatsmyuri(self, database, command):
        """An address of this machine."""
        return {"you": "127.0.0.1:0"}

    # Reading

    def run_find(self, database, command):
        """`find`, with the whole result in one answer of tidegate's."""
        check_batch(command)
        body = {name: command[name] for name in READ_MEMBERS if name in command}
        if command.get("singleBatch") and "batchSize" in command and "limit" not in body:
            body["limit"] = command["batchSize"]
        if not body.get("limit"):
            body["limit"] = UNLIMITED
        collection = self.collections.find(database, command["find"])
        documents = self.gateway.call("find", self.name(collection), body)["documents"]
        return self.cursor(database, command["find"], documents, command)

    def run_aggregate(self, database, command):
        """`aggregate`; a pipeline that begins with `$documents` runs on the seed."""
        pipeline = command.get("pipeline")
        cursor = command.get("cursor", {})
        if not isinstance(cursor, dict) or cursor.keys() - {"batchSize"}:
            raise NotApplicable("a cursor with other members")
        check_batch(cursor)
        if "explain" in command or "cursor" not in command:
            raise NotApplicable("explain of aggregate, and aggregate without a cursor")
        body = {name: command[name] for name in ("collation", "let", "maxTimeMS", "hint") if name in command}
        if isinstance(pipeline, list):
            pipeline = self.renamed(database, pipeline)
        if command["aggregate"] == 1:
            if not pipeline or "$documents" not in pipeline[0]:
                raise NotApplicable("aggregate without a collection")
            collection = self.seed()
            pipeline = documents_of(pipeline[0]["$documents"]) + pipeline[1:]
        else:
            collection = self.collections.find(database, command["aggregate"])
        if pipeline is not None:
            body["pipeline"] = pipeline
        documents = self.gateway.call("aggregate", self.name(collection), body)["documents"]
        if pipeline and "$out" in pipeline[-1]:
            target = pipeline[-1]["$out"]
            self.collections.note_made(target if isinstance(target, str) else target["coll"])
        return self.cursor(database, command["aggregate"], documents, command.get("cursor", {}))

    def renamed(self, database, pipeline):
        """A pipeline whose stages name tidegate's collections."""
        return [self.renamed_stage(database, stage) if isinstance(stage, dict) else stage for stage in pipeline]

    def renamed_stage(self, database, stage):
        """A stage, with the names of collections and the pipelines in it rewritten."""
        renamed = {}
        for operator, argument in stage.items():
            if operator in ("$unionWith", "$merge", "$out") and is_name(argument):
                argument = self.stored(database, argument, writes=operator != "$unionWith")
            elif operator == "$facet" and isinstance(argument, dict):
                argument = {
                    key: self.renamed(database, value) if isinstance(value, list) else value
                    for key, value in argument.items()
                }
            elif operator in ("$lookup", "$graphLookup", "$unionWith", "$merge", "$out") and isinstance(argument, dict):
                argument = self.renamed_argument(database, argument)
            renamed[operator] = argument
        return renamed

    def renamed_argument(self, database, argument):
        """The argument of a stage that joins or writes."""
        argument = dict(argument)
        if isinstance(argument.get("pipeline"), list):
            argument["pipeline"] = self.renamed(database, argument["pipeline"])
        into = argument.get("into")
        if isinstance(into, dict):
            argument["into"] = self.renamed_target(database, into)
        elif is_name(into):
            argument["into"] = self.stored(database, into, writes=True)
        if is_name(argument.get("from")):
            argument["from"] = self.stored(database, argument["from"], writes=False)
        return self.renamed_target(database, argument) if "coll" in argument else argument

    def renamed_target(self, database, target):
        """A collection that is named with its database; names that MongoDB refuses stay."""
        owner = target.get("db") or database
        if not is_name(target.get("coll")) or not is_database(owner):
            return target
        renamed = target | {"coll": self.stored(owner, target["coll"], writes=True)}
        return renamed | ({"db": "suite"} if target.get("db") else {})

    def stored(self, database, name, writes):
        """The name in tidegate of a collection that a stage names."""
        if not writes:
            return self.name(self.collections.find(database, name))
        collection = self.collections.lend(database, name, is_made=False)
        collection.is_written = True
        return collection.name

    def run_count(self, database, command):
        """`count`, as countDocuments."""
        if any(type(command.get(member, 0)) not in (int, Int64, float) for member in ("skip", "limit")):
            raise NotApplicable("count with other types of numbers")
        members = ("skip", "limit", "collation", "maxTimeMS", "hint")
        body = {name: command[name] for name in members if name in command}
        if command.get("query") is not None:
            body["filter"] = command["query"]
        # A negative limit is its amount, which only the command knows.
        if type(body.get("limit")) in (int, Int64) and body["limit"] > -(2**63):
            body["limit"] = abs(body["limit"])
        collection = self.collections.find(database, command["count"])
        return {"n": self.gateway.call("countDocuments", self.name(collection), body)["count"]}

    def run_distinct(self, database, command):
        """`distinct`."""
        body = {name: command[name] for name in ("key", "collation", "maxTimeMS", "hint") if name in command}
        if command.get("query") is not None:
            body["filter"] = command["query"]
        collection = self.collections.find(database, command["distinct"])
        return {"values": self.gateway.call("distinct", self.name(collection), body)["values"]}

    def run_getmore(self, database, command):
        """The next batch of a result that is held here."""
        check_batch(command)
        rest = self.cursors.pop(command["getMore"], None)
        if rest is None:
            raise Refusal(43, "CursorNotFound", f"cursor id {command['getMore']} not found")
        return self.cursor(database, command["collection"], rest, command, "nextBatch")

    def run_killcursors(self, database, command):
        """Forgets results that are held here."""
        killed = [number for number in command["cursors"] if self.cursors.pop(number, None) is not None]
        missing = [number for number in command["cursors"] if number not in killed]
        return {"cursorsKilled": killed, "cursorsNotFound": missing, "cursorsAlive": [], "cursorsUnknown": []}

    def cursor(self, database, name, documents, options, member="firstBatch"):
        """A batch of a result; what is left is held for getMore."""
        size = options.get("batchSize") if isinstance(options, dict) else None
        if size is None:
            # What MongoDB gives at once when nobody says how many.
            size = 101 if member == "firstBatch" else len(documents)
        batch, rest = documents[:size], documents[size:]
        number = 0
        if (rest or size == 0 and member == "firstBatch") and not options.get("singleBatch"):
            number = next(self.cursor_ids)
            self.cursors[number] = rest
        name = "$cmd.aggregate" if name == 1 else name
        return {"cursor": {member: batch, "id": Int64(number), "ns": f"{database}.{name}"}}

    # Writing

    def run_insert(self, database, command):
        """`insert`."""
        documents = command.get("documents")
        for document in documents or []:
            if "_id" not in document:
                document["_id"] = ObjectId()
        collection = self.collections.lend(database, command["insert"])
        collection.is_written = True
        try:
            body = {"ordered": command.get("ordered", True)} | ({} if documents is None else {"documents": documents})
            self.gateway.call("insertMany", collection.name, body)
        except NotApplicable:
            raise
        except Refusal as refusal:
            failed = refusal.writes or [{"index": 0, "code": refusal.code, "errmsg": str(refusal)}]
            errors = [{"index": one["index"], "code": one["code"], "errmsg": one["errmsg"]} for one in failed]
            if not refusal.writes:
                return {"n": 0, "writeErrors": errors}
            kept = errors[0]["index"] if command.get("ordered", True) else len(documents) - len(errors)
            return {"n": kept, "writeErrors": errors}
        return {"n": len(documents)}

    def run_bulkwrite(self, database, command):
        """`bulkWrite` writes to several collections in one request, which the Data API's action does not."""
        for entry in command.get("nsInfo") or []:
            if isinstance(entry, dict) and isinstance(entry.get("ns"), str):
                self.note(entry["ns"].split(".")[0])
        raise NotApplicable("the command bulkWrite")

    def run_update(self, database, command):
        """`update`: each statement is a request."""
        collection = self.collections.lend(database, command["update"])
        collection.is_written = True
        if not command.get("updates"):
            raise NotApplicable("an update of nothing")
        reply, upserted, errors = {"n": 0, "nModified": 0}, [], []
        for index, statement in enumerate(command["updates"]):
            check_known("update", statement, UPDATE_MEMBERS)
            action, body = update_request(statement)
            if "let" in command:
                body["let"] = command["let"]
            try:
                answer = self.gateway.call(action, collection.name, body)
            except NotApplicable:
                raise
            except Refusal as refusal:
                errors.append(write_error(index, refusal))
                if command.get("ordered", True):
                    break
                continue
            reply["n"] += answer["matchedCount"]
            reply["nModified"] += answer["modifiedCount"]
            if "upsertedId" in answer:
                reply["n"] += 1
                upserted.append({"index": index, "_id": answer["upsertedId"]})
        return reply | ({"upserted": upserted} if upserted else {}) | ({"writeErrors": errors} if errors else {})

    def run_delete(self, database, command):
        """`delete`: each statement is a request."""
        if not command.get("deletes") or type(command.get("ordered", True)) is not bool:
            raise NotApplicable("a delete of nothing, or with such flags")
        if any("q" not in statement or statement.get("limit") not in (0, 1) for statement in command["deletes"]):
            raise NotApplicable("a delete without filter or limit")
        collection = self.collections.find(database, command["delete"])
        count, errors = 0, []
        for index, statement in enumerate(command["deletes"]):
            check_known("delete", statement, DELETE_MEMBERS)
            body = {"filter": statement["q"]}
            if "let" in command:
                body["let"] = command["let"]
            body |= {name: statement[name] for name in ("collation", "hint") if name in statement}
            action = "deleteOne" if statement.get("limit") == 1 else "deleteMany"
            try:
                count += self.gateway.call(action, self.name(collection), body)["deletedCount"]
            except NotApplicable:
                raise
            except Refusal as refusal:
                errors.append(write_error(index, refusal))
                if command.get("ordered", True):
                    break
        return {"n": count} | ({"writeErrors": errors} if errors else {})

    def run_findandmodify(self, database, command):
        """`findAndModify`, as one of the three actions findOneAnd…"""
        check_modification(command)
        collection = self.collections.lend(database, command[next(iter(command))])
        collection.is_written = True
        names = {"query": "filter", "fields": "projection", "new": "returnNewDocument"}
        members = ("query", "sort", "fields", "upsert", "new", "arrayFilters", "collation", "let", "hint", "maxTimeMS")
        body = {names.get(name, name): command[name] for name in members if command.get(name) is not None}
        body.setdefault("filter", {})
        update = command.get("update")
        if command.get("remove"):
            action = "findOneAndDelete"
        elif is_replacement(update):
            action, body["replacement"] = "findOneAndReplace", update
        else:
            action, body["update"] = "findOneAndUpdate", update
        answer = self.gateway.call(action, collection.name, body)
        return {"value": answer.get("document"), "lastErrorObject": self.last_error(command, answer)}

    def last_error(self, command, answer):
        """What findAndModify says of its write."""
        if "upsertedId" in answer:
            return {"n": 1, "updatedExisting": False, "upserted": answer["upsertedId"]}
        count = 0 if answer.get("document") is None else 1
        return {"n": count} if command.get("remove") else {"n": count, "updatedExisting": bool(count)}

    # Collections

    def run_create(self, database, command):
        """`create` of an ordinary collection; views, capped collections and others do not apply."""
        known = {"create", "comment", "writeConcern", "lsid", "autoIndexId"}
        options = [name for name in command if name not in known and not name.startswith("$")]
        if options:
            raise NotApplicable(f"create with {options}")
        if self.collections.find(database, command["create"]):
            raise Refusal(48, "NamespaceExists", f"namespace {database}.{command['create']} already exists")
        collection = self.collections.lend(database, command["create"])
        if not collection.has_table:
            self.gateway.sql("select tidegate.ensure_collection('suite', :'name')", name=collection.name)
            collection.has_table = True
        return {}

    def run_drop(self, database, command):
        """`drop`."""
        if not self.collections.drop(database, command["drop"]):
            return {}
        return {"nIndexesWas": 1, "ns": f"{database}.{command['drop']}"}

    def run_dropdatabase(self, database, command):
        """`dropDatabase`."""
        for name in self.collections.names(database):
            self.collections.drop(database, name)
        return {"dropped": database}

    def run_listcollections(self, database, command):
        """`listCollections`, with names as its filter."""
        wanted = command.get("filter", {}).get("name")
        if isinstance(wanted, dict) and list(wanted) == ["$in"]:
            wanted = wanted["$in"]
        elif wanted is not None:
            wanted = [wanted]
        if command.get("filter", {}).keys() - {"name"} or any(isinstance(name, dict) for name in wanted or []):
            raise NotApplicable("listCollections with a filter")
        names = [
            name for name in self.collections.names(database)
            if (wanted is None or name in wanted) and self.is_there(database, name)
        ]
        batch = [{"name": name, "type": "collection"} for name in names]
        if not command.get("nameOnly"):
            index = {"v": 2, "key": {"_id": 1}, "name": "_id_"}
            batch = [entry | {"options": {}, "info": {"readOnly": False}, "idIndex": index} for entry in batch]
        return self.cursor(database, "$cmd.listCollections", batch, command.get("cursor", {}))

    def is_there(self, database, name):
        """Whether a collection exists; one that only a stage has named does once it has a document."""
        collection = self.collections.find(database, name)
        if not collection.is_made:
            collection.is_made = self.gateway.call("countDocuments", collection.name, {"limit": 1})["count"] > 0
        return collection.is_made

    def run_createindexes(self, database, command):
        """`createIndexes`, by the function of SQL that administrators use."""
        collection = self.collections.lend(database, command["createIndexes"])
        for index in command["indexes"]:
            self.create_index(collection, index)
        return {"numIndexesBefore": 1, "numIndexesAfter": 1 + len(command["indexes"])}

    def create_index(self, collection, index):
        """Makes one index, unless it is there; those that tidegate's function cannot make do not apply."""
        if index in collection.indexes:
            return
        is_text = "text" in index["key"].values()
        known = TEXT_INDEX_OPTIONS if is_text else INDEX_OPTIONS
        options = {name: index[name] for name in known if name in index}
        others = {name for name in index if name not in options and name not in ("key", "name", "v")}
        if others or any(direction not in (1, -1, "text") for direction in index["key"].values()):
            raise NotApplicable(f"an index with {sorted(others) or index['key']}")
        keys = ", ".join(f"{json.dumps(path)}: {json.dumps(kind)}" for path, kind in index["key"].items())
        collection.is_changed = True
        self.gateway.sql(
            "select tidegate.ensure_collection('suite', :'name');"
            "select tidegate.create_index('suite', 'suite', :'name', :'keys', :'options')",
            name=collection.name, keys="{" + keys + "}", options=json.dumps(options),
        )
        collection.indexes.append(index)
        collection.has_table = True

    # Helpers

    def name(self, collection):
        """The name in tidegate; that of a collection that nobody makes when there is none."""
        return collection.name if collection else "absent"

    def seed(self):
        """The collection with one document."""
        with self.seed_lock:
            collection = self.collections.lend(*SEED)
            if not collection.is_written:
                self.gateway.call("insertOne", collection.name, {"document": {"_id": 0}})
                collection.is_written = True
        return collection


# Members that MongoDB refuses when they are null.
NOT_NULL = ("hint", "pipeline", "filter")
INDEX_OPTIONS = ("unique", "sparse", "expireAfterSeconds", "name")
TEXT_INDEX_OPTIONS = ("weights", "default_language", "language_override", "name")
UPDATE_MEMBERS = {"q", "u", "multi", "upsert", "arrayFilters", "collation", "hint", "sort"}
DELETE_MEMBERS = {"q", "limit", "collation", "hint"}


def check_members(name, command):
    """Refuses members that the Data API has no counterpart for, and names that cannot be mapped."""
    known = MEMBERS.get(name.lower())
    if known is None:
        return
    check_known(name, command, known | SILENT_MEMBERS | {name})
    refused = [member for member in NOT_NULL if member in command and command[member] is None]
    if refused:
        raise NotApplicable(f"{refused} as null, which the Data API takes for absent")
    collection = command["collection"] if name == "getMore" else command[name]
    if not is_name(collection) and not (name == "aggregate" and type(collection) is int and collection == 1):
        raise NotApplicable("a collection of such a name")


def check_known(name, members, known):
    """Refuses other members than these."""
    others = members.keys() - known
    if others:
        raise NotApplicable(f"{name} with {sorted(others)}")


def check_modification(command):
    """Refuses what the three actions of the Data API cannot say: they are chosen by name, and flags are booleans."""
    flags = [command.get(name, False) for name in ("remove", "new", "upsert")]
    removes = flags[0] is True
    if any(type(flag) is not bool for flag in flags) or removes and (True in flags[1:] or "update" in command):
        raise NotApplicable("such flags of findAndModify")
    if not removes and not isinstance(command.get("update"), (dict, list)):
        raise NotApplicable("findAndModify without an update")


def check_batch(options):
    """Refuses sizes of batches that only a server's cursors could judge."""
    size = options.get("batchSize", 0)
    if type(size) not in (int, Int64) or size < 0:
        raise NotApplicable("such a size of batches")


def is_name(value):
    """Whether a value is a collection's name that MongoDB would take, so that it can be mapped."""
    return (
        isinstance(value, str) and not isinstance(value, Code) and 0 < len(value.encode()) < 200
        and not value.startswith(("system.", ".")) and "$" not in value and "\0" not in value
    )


def is_database(value):
    """The same for a database."""
    return (
        isinstance(value, str) and not isinstance(value, Code) and 0 < len(value.encode()) < 64
        and value not in ("admin", "config", "local") and not set(value) & set("/\\. \"$*<>:|?\0")
    )


def documents_of(expression):
    """Stages that turn the seed into the documents of a `$documents` stage."""
    return [
        {"$project": {"_id": 0, "documents": expression}},
        {"$unwind": "$documents"},
        {"$replaceWith": "$documents"},
    ]


def is_replacement(update):
    """Whether an update is a document to store and not operators."""
    return isinstance(update, dict) and not next(iter(update), "").startswith("$")


def update_request(statement):
    """The action and body for one statement of an update command."""
    members = ("upsert", "arrayFilters", "collation", "hint", "sort")
    body = {name: statement[name] for name in members if name in statement}
    if "q" in statement:
        body["filter"] = statement["q"]
    update = statement.get("u")
    if is_replacement(update) and not statement.get("multi"):
        return "replaceOne", body | {"replacement": update}
    return ("updateMany" if statement.get("multi") else "updateOne"), body | {"update": update}


def error(refusal):
    """MongoDB's error document."""
    return {"ok": 0.0, "errmsg": str(refusal), "code": refusal.code, "codeName": refusal.name}


def write_error(index, refusal):
    """A member of `writeErrors`."""
    return {"index": index, "code": refusal.code, "errmsg": str(refusal)}
