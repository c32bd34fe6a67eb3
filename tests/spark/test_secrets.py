"""The URL and the password in it show nowhere: in no plan, no exception, and nothing that a driver logs."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pyqueue_sql.errors import InvalidOption
from pyqueue_sql.spark.options import READ, WAYS, parse

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "s3cr3t-w0rd"
URL = f"postgresql://ann:{SECRET}@127.0.0.1:1/nowhere"

PROGRAM = """
import sys
from pyspark.sql import functions as F
from pyqueue_sql.spark.session import make_session

url, good = sys.argv[1:3]
java = "-Dlog4j2.configurationFile=" + sys.argv[4]
settings = {"spark.ui.enabled": "false", "spark.driver.extraJavaOptions": java}
spark = make_session("secrets", "local[1]", settings)
spark.sparkContext.setLogLevel("INFO")

def attempt(what):
    try:
        what()
        print("done")
    except Exception as error:
        print("FAILED", type(error).__name__, str(error), repr(error))

messages = spark.range(3).select(F.lit("1").alias("payload"))
reading = lambda url: spark.read.format("pyqueue").option("url", url).option("look", "peek").load()
for where in (url, good):
    attempt(lambda: reading(where).explain(True))
    attempt(lambda: reading(where).where("p_key = 'x'").collect())
    writer = messages.write.format("pyqueue").option("url", where).mode("append")
    attempt(writer.option("kind", "m").save)
    attempt(writer.option("ulr", where).save)
    stream = spark.readStream.format("pyqueue").option("url", where).option("kind", "m").load()
    stream.explain(True)
    attempt(lambda: stream.writeStream.format("noop").option("checkpointLocation", sys.argv[3] + where[-5:])
        .trigger(availableNow=True).start().awaitTermination())
spark.stop()
"""


LOGGING = """
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %p %c: %m%n%ex
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
"""


def test_options_print_without_the_url() -> None:
    options = parse({"url": URL, "look": "peek"}, READ)
    assert options.url == URL
    assert SECRET not in f"{options!r} {options}"


def test_an_error_in_an_option_repeats_no_value() -> None:
    for given in ({"url": URL, "ulr": URL}, {"url": URL, "partitions": URL}, {"url": URL, "look": URL}):
        with pytest.raises(InvalidOption) as raised:
            parse(given, READ)
        assert SECRET not in str(raised.value)


@pytest.mark.parametrize("way", WAYS)
def test_the_url_comes_from_the_environment_where_no_option_says_it(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"kind": "m", **({"look": "peek"} if way == READ else {})}
    monkeypatch.delenv("PYQUEUE_URL", raising=False)
    with pytest.raises(InvalidOption, match="PYQUEUE_URL"):
        parse(given, way)
    monkeypatch.setenv("PYQUEUE_URL", URL)
    assert parse(given, way).url == URL


@pytest.mark.long
@pytest.mark.slow
def test_nothing_of_the_url_is_in_plans_exceptions_and_logs(database_url: str, tmp_path: Path) -> None:
    login = database_url.partition("://")[2].partition("@")[0]
    password = login.partition(":")[2]
    (tmp_path / "log4j2.properties").write_text(LOGGING)
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            PROGRAM,
            URL,
            database_url,
            str(tmp_path / "checkpoint"),
            str(tmp_path / "log4j2.properties"),
        ],
        capture_output=True,
        text=True,
        env=os.environ | {"PYQUEUE_URL": ""},
        timeout=600,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-2000:]
    assert said.count("FAILED") >= 5
    assert "ERROR" in said  # the log is there, and it tells of the tasks that failed
    for secret in (SECRET, login, password or SECRET):
        assert [line[:300] for line in said.splitlines() if secret in line] == []
