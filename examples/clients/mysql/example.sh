#!/bin/sh
# A consumer by the client of MySQL, or with CLIENT=mariadb by that of MariaDB. OPTIONS is a file for you alone, with the
# connection: [client], and below it host, port, user and password; [mysql], and below it database.
set -eu

# call ROUTINE ARGUMENT …: the rows, columns by tabs; each argument is SQL
call() {
    routine=$1
    shift
    arguments=$(printf '%s, ' "$@")
    printf '%s\n' 'set session transaction isolation level read committed;' "call $routine(${arguments%, });" |
        "${CLIENT:-mysql}" --defaults-file="$OPTIONS" --batch --raw --skip-column-names
}

# the columns of a message that are used here; field NUMBER ROW
field() { printf '%s\n' "$2" | cut -f "$1"; }
key() { field 2 "$1"; }
to() { field 3 "$1" | sed 's/.*"to": *"\([^"]*\)".*/\1/'; }
receipt() { field 13 "$1"; }

for message in m1:ann m1:eve m2:bob m3:carol; do
    pushed=$(call queue_push "'mail'" "'${message%:*}'" "json_object('to', '${message#*:}')" null)
    echo "push ${message%:*}: $(field 4 "$pushed")"
done

first=$(call queue_reserve "'mail'" "'example'" 1 null)
echo "reserve: $(key "$first") for $(to "$first")"
echo "extend: $(field 2 "$(call queue_extend "'$(receipt "$first")'" 600)")"

# the loop of a consumer: acks what is done, and takes the next
second=$(call queue_next "json_array('$(receipt "$first")')" "'mail'" "'example'" 1 null)
echo "next: $(key "$second") for $(to "$second")"
failed="json_object('error', 'no such address', 'delay_seconds', 600)"
echo "nack: $(field 2 "$(call queue_nack "'$(receipt "$second")'" "$failed")")"

third=$(call queue_next null "'mail'" "'example'" 1 null)
echo "next: $(key "$third") for $(to "$third")"
echo "move: $(field 2 "$(call queue_move "'$(receipt "$third")'" "'sent'" null)")"

sent=$(call queue_reserve "'sent'" "'example'" 1 null)
echo "reserve: $(key "$sent") for $(to "$sent")"
for time in 1 2; do # the second comes too late, which is an answer and no error
    echo "ack: $(field 2 "$(call queue_ack "'$(receipt "$sent")'" null)")"
done

error=$(call queue_push "''" "'m1'" "'{}'" null 2>&1) || echo "refused: $(expr "$error" : '.*ERROR [0-9]* (\([A-Z0-9]*\))')"

echo "waiting for a message"
woken=true
[ -n "$(call queue_wait "'[\"mail\"]'" 300)" ] || woken=false
echo "woken: $woken"
late=$(call queue_reserve "'mail'" "'example'" 1 null)
echo "reserve: $(key "$late") for $(to "$late")"
# who ends gives back what it holds, and the attempt doesn't count
echo "give back: $(field 2 "$(call queue_nack "'$(receipt "$late")'" "json_object('count', false)")")"
echo "closed" # each statement had a connection of its own
