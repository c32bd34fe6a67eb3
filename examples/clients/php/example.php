<?php
// A consumer in PHP, by PDO. PYQUEUE_URL is postgresql://user:password@host:port/database, or mysql://… for MySQL and MariaDB.
declare(strict_types=1);

final class Queue
{
    private ?PDO $pdo;
    private bool $postgresql;

    public function __construct(string $url)
    {
        $part = array_map('urldecode', array_map('strval', parse_url($url)));
        $this->postgresql = $part['scheme'] === 'postgresql';
        $driver = $this->postgresql ? 'pgsql' : 'mysql';
        $port = $part['port'] ?? ($this->postgresql ? '5432' : '3306');
        $name = ltrim($part['path'], '/');
        $where = "$driver:host={$part['host']};port=$port;dbname=$name" . ($this->postgresql ? '' : ';charset=utf8mb4');
        $this->pdo = new PDO($where, $part['user'], $part['pass'], [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
        if (!$this->postgresql) {
            $this->pdo->exec('set session transaction isolation level read committed');
        }
    }

    public function call(string $routine, mixed ...$given): array
    {
        $marks = implode(', ', array_fill(0, count($given), '?'));
        $statement = $this->pdo->prepare($this->postgresql ? "select * from $routine($marks)" : "call $routine($marks)");
        $statement->execute($given);
        $rows = $statement->fetchAll(PDO::FETCH_ASSOC);
        $statement->closeCursor(); // a procedure answers with something behind its rows
        return $rows;
    }

    public function wait(string $kind, float $seconds): bool
    {
        if (!$this->postgresql) {
            return $this->call('queue_wait', json_encode([$kind]), $seconds) !== [];
        }
        // listens first and looks then: what is pushed between the two is an event
        $until = microtime(true) + $seconds;
        $again = [0.05, 0.2, 1]; // a push may have been committing
        $this->pdo->exec("listen {$this->look('channel', $kind)['channel']}");
        for (;;) {
            ['ready' => $ready, 'next_seconds' => $next] = $this->look('ready, next_seconds', $kind);
            $left = $until - microtime(true);
            if ($ready || $left <= 0) {
                return $ready;
            }
            $pause = min($left, array_shift($again) ?? $left, (float) ($next ?? $left));
            $this->pdo->pgsqlGetNotify(PDO::FETCH_ASSOC, max(1, (int) ($pause * 1000)));
        }
    }

    private function look(string $columns, string $kind): array
    {
        $statement = $this->pdo->prepare("select $columns from queue_listen(?)");
        $statement->execute([json_encode([$kind])]);
        return $statement->fetch(PDO::FETCH_ASSOC);
    }

    public function close(): void
    {
        $this->pdo = null;
    }
}

$queue = new Queue(getenv('PYQUEUE_URL'));
$to = fn (array $row): string => json_decode($row['payload'])->to;

foreach ([['m1', 'ann'], ['m1', 'eve'], ['m2', 'bob'], ['m3', 'carol']] as [$key, $name]) {
    [$pushed] = $queue->call('queue_push', 'mail', $key, json_encode(['to' => $name]), null);
    echo "push $key: {$pushed['outcome']}\n";
}

[$first] = $queue->call('queue_reserve', 'mail', 'example', 1, null);
echo "reserve: {$first['p_key']} for {$to($first)}\n";
[$kept] = $queue->call('queue_extend', $first['receipt'], 600);
echo "extend: {$kept['outcome']}\n";

// the loop of a consumer: acks what is done, and takes the next
[$second] = $queue->call('queue_next', json_encode([$first['receipt']]), 'mail', 'example', 1, null);
echo "next: {$second['p_key']} for {$to($second)}\n";
$failed = json_encode(['error' => 'no such address', 'delay_seconds' => 600]);
[$back] = $queue->call('queue_nack', $second['receipt'], $failed);
echo "nack: {$back['outcome']}\n";

[$third] = $queue->call('queue_next', null, 'mail', 'example', 1, null);
echo "next: {$third['p_key']} for {$to($third)}\n";
[$moved] = $queue->call('queue_move', $third['receipt'], 'sent', null);
echo "move: {$moved['outcome']}\n";

[$sent] = $queue->call('queue_reserve', 'sent', 'example', 1, null);
echo "reserve: {$sent['p_key']} for {$to($sent)}\n";
for ($time = 1; $time <= 2; $time++) {
    [$done] = $queue->call('queue_ack', $sent['receipt'], null);
    echo "ack: {$done['outcome']}\n"; // the second comes too late, which is an answer and no error
}

try {
    $queue->call('queue_push', '', 'm1', '{}', null);
} catch (PDOException $error) {
    echo "refused: {$error->errorInfo[0]}\n";
}

echo "waiting for a message\n";
echo 'woken: ' . json_encode($queue->wait('mail', 300)) . "\n";
[$late] = $queue->call('queue_reserve', 'mail', 'example', 1, null);
echo "reserve: {$late['p_key']} for {$to($late)}\n";
// who ends gives back what it holds, and the attempt doesn't count
[$given] = $queue->call('queue_nack', $late['receipt'], json_encode(['count' => false]));
echo "give back: {$given['outcome']}\n";
$queue->close();
echo "closed\n";
