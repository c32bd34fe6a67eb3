// A consumer in Rust, by sqlx. PYQUEUE_URL is postgresql://user:password@host:port/database, or mysql://… for MySQL and MariaDB.
use std::time::{Duration, Instant};

use serde_json::{json, Value};
use sqlx::mysql::{MySqlArguments, MySqlConnection};
use sqlx::postgres::{PgArguments, PgConnection, PgListener};
use sqlx::{Arguments, AssertSqlSafe, Connection, Executor, Row};

type Rows = Vec<Vec<String>>;

#[derive(Clone)]
enum Given {
    Text(String),
    Json(Option<Value>),
    Number(f64),
    Whole(i32),
}

use Given::{Json, Number, Text, Whole};

enum Queue {
    Postgresql(PgConnection, String),
    Mysql(MySqlConnection),
}

/// What is read of a message, and of an answer.
const MESSAGE: [&str; 3] = ["p_key", "payload", "receipt"];
const OUTCOME: [&str; 1] = ["outcome"];

impl Queue {
    async fn connect(url: &str) -> sqlx::Result<Queue> {
        if url.starts_with("postgresql:") {
            return Ok(Queue::Postgresql(PgConnection::connect(url).await?, url.to_string()));
        }
        let mut connection = MySqlConnection::connect(url).await?;
        connection.execute("set session transaction isolation level read committed").await?;
        Ok(Queue::Mysql(connection))
    }

    /// The rows of a call, of which these columns, as text.
    async fn call(&mut self, columns: &[&str], routine: &str, given: Vec<Given>) -> sqlx::Result<Rows> {
        match self {
            Queue::Postgresql(connection, _) => {
                let mut values = PgArguments::default();
                let mut marks = Vec::new();
                for (place, value) in given.into_iter().enumerate() {
                    let cast = if let Json(_) = value { "::jsonb" } else { "" };
                    marks.push(format!("${}{cast}", place + 1));
                    match value {
                        Text(text) => values.add(text),
                        Json(json) => values.add(json.map(|one| one.to_string())),
                        Number(number) => values.add(number),
                        Whole(number) => values.add(number),
                    }
                    .map_err(sqlx::Error::Encode)?;
                }
                let texts: Vec<String> = columns.iter().map(|name| format!("{name}::text")).collect();
                let sql = format!("select {} from {routine}({})", texts.join(", "), marks.join(", "));
                let rows = sqlx::query_with(AssertSqlSafe(sql), values).fetch_all(connection).await?;
                let texts = |row: &sqlx::postgres::PgRow| {
                    (0..columns.len()).map(|place| row.get::<Option<String>, _>(place).unwrap_or_default()).collect()
                };
                Ok(rows.iter().map(texts).collect())
            }
            Queue::Mysql(connection) => {
                let mut values = MySqlArguments::default();
                let marks = vec!["?"; given.len()].join(", ");
                for value in given {
                    match value {
                        Text(text) => values.add(text),
                        Json(json) => values.add(json.map(|one| one.to_string())),
                        Number(number) => values.add(number),
                        Whole(number) => values.add(number),
                    }
                    .map_err(sqlx::Error::Encode)?;
                }
                let sql = format!("call {routine}({marks})");
                let rows = sqlx::query_with(AssertSqlSafe(sql), values).fetch_all(connection).await?;
                // the driver has no type for JSON by that name on MariaDB, where it is text
                let texts = |row: &sqlx::mysql::MySqlRow| {
                    columns.iter().map(|name| row.get_unchecked::<Option<String>, _>(*name).unwrap_or_default()).collect()
                };
                Ok(rows.iter().map(texts).collect())
            }
        }
    }

    async fn outcome(&mut self, routine: &str, given: Vec<Given>) -> sqlx::Result<String> {
        Ok(self.call(&OUTCOME, routine, given).await?[0][0].clone())
    }

    async fn wait(&mut self, kind: &str, seconds: f64) -> sqlx::Result<bool> {
        let kinds = Json(Some(json!([kind])));
        let url = match self {
            Queue::Postgresql(_, url) => url.clone(),
            Queue::Mysql(_) => {
                return Ok(!self.call(&["p_kind"], "queue_wait", vec![kinds, Number(seconds)]).await?.is_empty());
            }
        };
        // listens first and looks then: what is pushed between the two is an event
        let until = Instant::now() + Duration::from_secs_f64(seconds);
        let mut again = [0.05, 0.2, 1.0].into_iter(); // a push may have been committing
        let marked = self.call(&["channel"], "queue_listen", vec![kinds.clone()]).await?;
        let mut listener = PgListener::connect(&url).await?;
        listener.listen(&marked[0][0]).await?;
        loop {
            let looked = &self.call(&["ready", "next_seconds"], "queue_listen", vec![kinds.clone()]).await?[0];
            let left = until.saturating_duration_since(Instant::now()).as_secs_f64();
            if looked[0] == "true" || left <= 0.0 {
                return Ok(looked[0] == "true");
            }
            let next = looked[1].parse().unwrap_or(left);
            let pause = left.min(next).min(again.next().unwrap_or(left)).max(0.0);
            let _ = tokio::time::timeout(Duration::from_secs_f64(pause), listener.recv()).await;
        }
    }

    async fn close(self) -> sqlx::Result<()> {
        match self {
            Queue::Postgresql(connection, _) => connection.close().await,
            Queue::Mysql(connection) => connection.close().await,
        }
    }
}

fn text(value: &str) -> Given {
    Text(value.to_string())
}

/// Whom the mail is for.
fn to(mail: &[String]) -> String {
    let payload: Value = serde_json::from_str(&mail[1]).expect("JSON");
    payload["to"].as_str().expect("a name").to_string()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> sqlx::Result<()> {
    let mut queue = Queue::connect(&std::env::var("PYQUEUE_URL").expect("PYQUEUE_URL")).await?;
    for (key, name) in [("m1", "ann"), ("m1", "eve"), ("m2", "bob"), ("m3", "carol")] {
        let payload = Json(Some(json!({"to": name})));
        let pushed = queue.outcome("queue_push", vec![text("mail"), text(key), payload, Json(None)]).await?;
        println!("push {key}: {pushed}");
    }

    let one = || vec![text("mail"), text("example"), Whole(1), Json(None)];
    let first = queue.call(&MESSAGE, "queue_reserve", one()).await?.remove(0);
    println!("reserve: {} for {}", first[0], to(&first));
    println!("extend: {}", queue.outcome("queue_extend", vec![text(&first[2]), Number(600.0)]).await?);

    // the loop of a consumer: acks what is done, and takes the next
    let next = |done: Option<Value>| [vec![Json(done)], one()].concat();
    let second = queue.call(&MESSAGE, "queue_next", next(Some(json!([first[2]])))).await?.remove(0);
    println!("next: {} for {}", second[0], to(&second));
    let failed = Json(Some(json!({"error": "no such address", "delay_seconds": 600})));
    println!("nack: {}", queue.outcome("queue_nack", vec![text(&second[2]), failed]).await?);

    let third = queue.call(&MESSAGE, "queue_next", next(None)).await?.remove(0);
    println!("next: {} for {}", third[0], to(&third));
    println!("move: {}", queue.outcome("queue_move", vec![text(&third[2]), text("sent"), Json(None)]).await?);

    let given = vec![text("sent"), text("example"), Whole(1), Json(None)];
    let sent = queue.call(&MESSAGE, "queue_reserve", given).await?.remove(0);
    println!("reserve: {} for {}", sent[0], to(&sent));
    for _ in 0..2 {
        // the second comes too late, which is an answer and no error
        println!("ack: {}", queue.outcome("queue_ack", vec![text(&sent[2]), Json(None)]).await?);
    }

    let given = vec![text(""), text("m1"), Json(Some(json!({}))), Json(None)];
    if let Err(sqlx::Error::Database(error)) = queue.outcome("queue_push", given).await {
        println!("refused: {}", error.code().unwrap_or_default());
    }

    println!("waiting for a message");
    println!("woken: {}", queue.wait("mail", 300.0).await?);
    let late = queue.call(&MESSAGE, "queue_reserve", one()).await?.remove(0);
    println!("reserve: {} for {}", late[0], to(&late));
    // who ends gives back what it holds, and the attempt doesn't count
    let back = Json(Some(json!({"count": false})));
    println!("give back: {}", queue.outcome("queue_nack", vec![text(&late[2]), back]).await?);
    queue.close().await?;
    println!("closed");
    Ok(())
}
