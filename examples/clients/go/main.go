// A consumer in Go, by lib/pq and go-sql-driver/mysql. PYQUEUE_URL is postgresql://user:password@host:port/database, or
// mysql://… for MySQL and MariaDB.
package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/lib/pq"
)

type row map[string]string

type queue struct {
	db         *sql.DB
	url        string
	postgresql bool
}

func open(text string) *queue {
	part := must(url.Parse(text))
	q := &queue{url: text, postgresql: part.Scheme == "postgresql"}
	if q.postgresql {
		q.db = must(sql.Open("postgres", text))
		q.db.SetMaxOpenConns(1) // queue_listen marks a session
		return q
	}
	password, _ := part.User.Password()
	given := mysql.NewConfig()
	given.User, given.Passwd, given.Net, given.Addr = part.User.Username(), password, "tcp", part.Host
	given.DBName = strings.TrimPrefix(part.Path, "/")
	q.db = must(sql.Open("mysql", given.FormatDSN()))
	q.db.SetMaxOpenConns(1) // the level is one session's
	must(q.db.Exec("set session transaction isolation level read committed"))
	return q
}

func (q *queue) rows(text string, given ...any) ([]row, error) {
	found, err := q.db.Query(text, given...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	names := must(found.Columns())
	var rows []row
	for found.Next() {
		values, places := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range values {
			places[i] = &values[i]
		}
		if err := found.Scan(places...); err != nil {
			return nil, err
		}
		one := row{}
		for i, name := range names {
			one[name] = values[i].String
		}
		rows = append(rows, one)
	}
	return rows, found.Err()
}

func (q *queue) call(routine string, given ...any) ([]row, error) {
	marks := make([]string, len(given))
	for i := range given {
		marks[i] = "?"
		if q.postgresql {
			marks[i] = "$" + strconv.Itoa(i+1)
		}
	}
	how := "call "
	if q.postgresql {
		how = "select * from "
	}
	return q.rows(how+routine+"("+strings.Join(marks, ", ")+")", given...)
}

// one returns the only row of a call.
func (q *queue) one(routine string, given ...any) row {
	return must(q.call(routine, given...))[0]
}

func (q *queue) wait(kind string, patience time.Duration) bool {
	kinds := text([]string{kind})
	if !q.postgresql {
		return len(must(q.call("queue_wait", kinds, patience.Seconds()))) > 0
	}
	// listens first and looks then: what is pushed between the two is an event
	until := time.Now().Add(patience)
	again := []time.Duration{50 * time.Millisecond, 200 * time.Millisecond, time.Second} // a push may have been committing
	marked := must(q.rows("select channel from queue_listen($1)", kinds))[0]
	listener := pq.NewListener(q.url, time.Second, time.Minute, nil)
	defer listener.Close()
	if err := listener.Listen(marked["channel"]); err != nil {
		log.Fatal(err)
	}
	for {
		looked := must(q.rows("select ready, next_seconds from queue_listen($1)", kinds))[0]
		pause := time.Until(until)
		if looked["ready"] == "true" || pause <= 0 {
			return looked["ready"] == "true"
		}
		if next, err := strconv.ParseFloat(looked["next_seconds"], 64); err == nil {
			pause = min(pause, time.Duration(next*float64(time.Second)))
		}
		if len(again) > 0 {
			pause, again = min(pause, again[0]), again[1:]
		}
		select {
		case <-listener.Notify:
		case <-time.After(pause):
		}
	}
}

func min(a, b time.Duration) time.Duration {
	if a < b {
		return a
	}
	return b
}

// state returns the SQLSTATE; the driver of MySQL has its own number, which is as much ours.
func state(err error) string {
	var onPostgresql *pq.Error
	var onMysql *mysql.MySQLError
	switch {
	case errors.As(err, &onPostgresql):
		return string(onPostgresql.Code)
	case errors.As(err, &onMysql):
		return fmt.Sprintf("PQ%03d", onMysql.Number-31000)
	}
	return "nothing"
}

func text(value any) string { return string(must(json.Marshal(value))) }

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func to(mail row) string {
	var payload struct{ To string }
	if err := json.Unmarshal([]byte(mail["payload"]), &payload); err != nil {
		log.Fatal(err)
	}
	return payload.To
}

func main() {
	q := open(os.Getenv("PYQUEUE_URL"))
	for _, mail := range [][2]string{{"m1", "ann"}, {"m1", "eve"}, {"m2", "bob"}, {"m3", "carol"}} {
		pushed := q.one("queue_push", "mail", mail[0], text(map[string]string{"to": mail[1]}), nil)
		fmt.Printf("push %s: %s\n", mail[0], pushed["outcome"])
	}

	first := q.one("queue_reserve", "mail", "example", 1, nil)
	fmt.Printf("reserve: %s for %s\n", first["p_key"], to(first))
	fmt.Printf("extend: %s\n", q.one("queue_extend", first["receipt"], 600)["outcome"])

	// the loop of a consumer: acks what is done, and takes the next
	second := q.one("queue_next", text([]string{first["receipt"]}), "mail", "example", 1, nil)
	fmt.Printf("next: %s for %s\n", second["p_key"], to(second))
	failed := text(map[string]any{"error": "no such address", "delay_seconds": 600})
	fmt.Printf("nack: %s\n", q.one("queue_nack", second["receipt"], failed)["outcome"])

	third := q.one("queue_next", nil, "mail", "example", 1, nil)
	fmt.Printf("next: %s for %s\n", third["p_key"], to(third))
	fmt.Printf("move: %s\n", q.one("queue_move", third["receipt"], "sent", nil)["outcome"])

	sent := q.one("queue_reserve", "sent", "example", 1, nil)
	fmt.Printf("reserve: %s for %s\n", sent["p_key"], to(sent))
	for time := 1; time <= 2; time++ { // the second comes too late, which is an answer and no error
		fmt.Printf("ack: %s\n", q.one("queue_ack", sent["receipt"], nil)["outcome"])
	}

	_, err := q.call("queue_push", "", "m1", "{}", nil)
	fmt.Printf("refused: %s\n", state(err))

	fmt.Println("waiting for a message")
	fmt.Printf("woken: %t\n", q.wait("mail", 5*time.Minute))
	late := q.one("queue_reserve", "mail", "example", 1, nil)
	fmt.Printf("reserve: %s for %s\n", late["p_key"], to(late))
	// who ends gives back what it holds, and the attempt doesn't count
	given := q.one("queue_nack", late["receipt"], text(map[string]any{"count": false}))
	fmt.Printf("give back: %s\n", given["outcome"])
	if err := q.db.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("closed")
}
