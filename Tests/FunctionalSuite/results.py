"""A plugin of pytest that notes each test's outcome, and the table of what was noted.

As a plugin (`-p results`) it appends a JSON line for each test to the file in SUITE_RESULTS.
`results.py RESULTS NOT_APPLICABLE` prints passes by folder, `--failures` the tests that failed, too.
"""

import hashlib
import json
import os
import re
import sys
from collections import Counter, defaultdict

DATABASE = re.compile(r"test_[^_]+_([0-9a-f]{8})_")
UNASKED = re.compile(r"\[not applicable\]|Actual:[\sE]+\{'code': 59\}")
ROOT = "documentdb_tests/compatibility/tests/"


def pytest_runtest_logreport(report):
    """Notes a test that ran, or that could not be set up."""
    if os.environ.get("PYTEST_XDIST_WORKER") or report.when == "teardown":
        return
    if report.when == "setup" and report.outcome == "passed":
        return
    line = {"test": report.nodeid, "outcome": report.outcome}
    if report.outcome == "failed":
        line["text"] = str(report.longrepr)[-2000:]
    with open(os.environ["SUITE_RESULTS"], "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def read(results, notes):
    """The tests by their outcome: passed, failed, skipped or n/a."""
    with open(notes, encoding="utf-8") as file:
        unasked = {found[1] for line in file if (found := DATABASE.match(line))}
    with open(results, encoding="utf-8") as file:
        tests = [json.loads(line) for line in file]
    for test in tests:
        digest = hashlib.sha256(test["test"].encode()).hexdigest()[:8]
        # 59 (CommandNotFound) is what the adapter alone says; commands to the database `admin` name no test.
        if digest in unasked or UNASKED.search(test.get("text", "")):
            test["outcome"] = "n/a"
        elif test.get("text", "").startswith("[XPASS(strict)]"):
            # MongoDB itself fails here, and the test's expectation holds.
            test["outcome"] = "passed"
    return tests


def folder(test, depth):
    """A test's folder, so many levels below the suite's tests."""
    path = test["test"].split("::")[0]
    path = path[path.index("tests/", path.find("compatibility")) + 6 :] if "compatibility" in path else path
    return "/".join(path.split("/")[:-1][:depth])


def table(tests, depth):
    """Lines of a table: passes, applicable tests and their share, by folder."""
    counts = defaultdict(Counter)
    for test in tests:
        counts[folder(test, depth)][test["outcome"]] += 1
        counts["all"][test["outcome"]] += 1
    yield f"{'folder':60} {'passed':>7} {'of':>7} {'%':>6} {'n/a':>6}"
    for name in sorted(counts, key=lambda name: (name == "all", name)):
        count = counts[name]
        applicable = count["passed"] + count["failed"]
        share = f"{100 * count['passed'] / applicable:.1f}" if applicable else "-"
        yield f"{name:60} {count['passed']:7} {applicable:7} {share:>6} {count['n/a'] + count['skipped']:6}"


def main():
    """Prints the table, and the failures when they are asked for."""
    tests = read(*sys.argv[1:3])
    if "--failures" in sys.argv:
        for test in tests:
            if test["outcome"] == "failed":
                lines = [line[1:].strip() for line in test.get("text", "").splitlines() if line.startswith("E")]
                print(test["test"].removeprefix(ROOT), "|", " ".join(lines)[:600])
        print()
    print("\n".join(table(tests, int(os.environ.get("SUITE_DEPTH", "4")))))


if __name__ == "__main__":
    main()
