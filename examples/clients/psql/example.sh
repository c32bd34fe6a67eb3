#!/bin/sh
# A consumer by psql. The connection is that of libpq's variables: PGHOST, PGPORT, PGUSER, PGDATABASE, and PGPASSFILE.
set -eu

# ask SQL [name=value …]: the rows, columns by tabs; in SQL :'name' is the value as a string
ask() {
    sql=$1
    shift
    for given; do set -- "$@" --set "$given"; shift; done
    printf '%s\n' "$sql" | "${PSQL:-psql}" --no-psqlrc --quiet --tuples-only --no-align --field-separator '	' \
        --set ON_ERROR_STOP=1 --set VERBOSITY=sqlstate "$@"
}

# field NUMBER ROW
field() {
    echo "$2" | cut -f "$1"
}

taken="p_key, receipt, payload->>'to'" # the columns that are used here

for message in m1:ann m1:eve m2:bob m3:carol; do
    outcome=$(ask "select outcome from queue_push('mail', :'key', jsonb_build_object('to', :'name'))" \
        "key=${message%:*}" "name=${message#*:}")
    echo "push ${message%:*}: $outcome"
done

first=$(ask "select $taken from queue_reserve('mail', 'example')")
echo "reserve: $(field 1 "$first") for $(field 3 "$first")"
receipt=$(field 2 "$first")
echo "extend: $(ask "select outcome from queue_extend(:'receipt', 600)" "receipt=$receipt")"

# the loop of a consumer: acks what is done, and takes the next
second=$(ask "select $taken from queue_next(jsonb_build_array(:'receipt'), 'mail', 'example')" "receipt=$receipt")
echo "next: $(field 1 "$second") for $(field 3 "$second")"
failed='{"error": "no such address", "delay_seconds": 600}'
outcome=$(ask "select outcome from queue_nack(:'receipt', :'failed')" "receipt=$(field 2 "$second")" "failed=$failed")
echo "nack: $outcome"

third=$(ask "select $taken from queue_next(null, 'mail', 'example')")
echo "next: $(field 1 "$third") for $(field 3 "$third")"
echo "move: $(ask "select outcome from queue_move(:'receipt', 'sent')" "receipt=$(field 2 "$third")")"

sent=$(ask "select $taken from queue_reserve('sent', 'example')")
echo "reserve: $(field 1 "$sent") for $(field 3 "$sent")"
for time in 1 2; do # the second comes too late, which is an answer and no error
    echo "ack: $(ask "select outcome from queue_ack(:'receipt')" "receipt=$(field 2 "$sent")")"
done

error=$(ask "select * from queue_push('', 'm1', '{}')" 2>&1) || echo "refused: ${error##* }"

# psql shows an event only after a statement, so it asks queue_wait, which waits 5 s at the most
echo "waiting for a message"
woken=false
for time in 1 2 3 4 5 6 7 8 9 10 11 12; do
    kind=$(ask "select p_kind from queue_wait('[\"mail\"]', 5)")
    [ -z "$kind" ] || { woken=true; break; }
done
echo "woken: $woken"
late=$(ask "select $taken from queue_reserve('mail', 'example')")
echo "reserve: $(field 1 "$late") for $(field 3 "$late")"
# who ends gives back what it holds, and the attempt doesn't count
outcome=$(ask "select outcome from queue_nack(:'receipt', '{\"count\": false}')" "receipt=$(field 2 "$late")")
echo "give back: $outcome"
echo "closed" # each statement had a connection of its own
