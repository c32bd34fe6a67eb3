#!/bin/sh
# Makes .venv where there is no good one, and installs the project in it, editable, with the extras named.
# usage: requirements/make-venv.sh EXTRA[,EXTRA...]      from the root of the project; $PYTHON: a Python to prefer
set -eu

new_enough='import sys; sys.exit(sys.version_info < (3, 11))'

find_python() {
    for name in ${PYTHON:+"$PYTHON"} python3 python3.14 python3.13 python3.12 python3.11 python; do
        if "$name" -c "$new_enough" >/dev/null 2>&1; then
            echo "$name"
            return
        fi
    done
    echo "No Python 3.11 or later in PATH. Install one, or name it: make PYTHON=/path/to/python3" >&2
    exit 1
}

make_venv() {
    rm -rf .venv
    if "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        "$python" -m venv .venv
    elif "$python" -m virtualenv --version >/dev/null 2>&1; then
        "$python" -m virtualenv --quiet .venv
    elif "$python" -m pip --python "$python" --version >/dev/null 2>&1; then
        "$python" -m venv --without-pip .venv
    else
        echo "$python can't make a virtual environment: it has no ensurepip, no virtualenv and no pip 22.3." >&2
        echo "Install one of them; on Debian and Ubuntu: apt-get install python3-venv" >&2
        exit 1
    fi
}

if ! .venv/bin/python -c "$new_enough" >/dev/null 2>&1; then
    python=$(find_python)
    make_venv
fi
if .venv/bin/python -m pip --version >/dev/null 2>&1; then
    set -- "$1" .venv/bin/python -m pip
else
    set -- "$1" "$(find_python)" -m pip --python .venv/bin/python
fi
extras=$1
shift

# The build of a package takes its tools from the same list: pip reads it from the first name up to 25.2, from
# the second after that. The path is relative because pip would split it at a space.
export PIP_CONSTRAINT=requirements/constraints.txt PIP_BUILD_CONSTRAINT=requirements/constraints.txt

# uv does the same in a third of the time, and keeps what it fetched for the next clone; but PySpark, a source of
# half a gigabyte, it would keep three times, so pip goes before it with that. Where uv gets nowhere, pip does it.
case ",$extras," in *,spark,*) "$@" install -qq --disable-pip-version-check --no-compile --no-deps pyspark ;; esac
if "$@" install --quiet --disable-pip-version-check uv 2>/dev/null; then
    index=${PIP_INDEX_URL:-$("$@" config get global.index-url 2>/dev/null || true)}
    if UV_HTTP_TIMEOUT=30 .venv/bin/uv pip install --quiet --python .venv/bin/python ${index:+--default-index "$index"} \
        --constraints "$PIP_CONSTRAINT" --build-constraints "$PIP_CONSTRAINT" --editable ".[$extras]" 2>/dev/null; then
        exit
    fi
fi
"$@" install --quiet --disable-pip-version-check --editable ".[$extras]"
