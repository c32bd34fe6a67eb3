# A consumer in Ruby. PYQUEUE_URL is postgresql://user:password@host:port/database, or mysql://… for MySQL and MariaDB.
require "json"
require "uri"

$stdout.sync = true
url = ENV.fetch("PYQUEUE_URL")

class OnPostgresql
  def initialize(url)
    require "pg"
    @connection = PG.connect(url)
  end

  def call(routine, *given)
    marks = (1..given.size).map { |place| "$#{place}" }.join(", ")
    @connection.exec_params("select * from #{routine}(#{marks})", given).to_a
  end

  # Listens first and looks then: what is pushed between the two is an event.
  def wait(kind, seconds)
    ends = now + seconds
    again = [0.05, 0.2, 1] # a push may have been committing
    @connection.exec("listen #{look("channel", kind)["channel"]}")
    loop do
      looked = look("ready, next_seconds", kind)
      left = ends - now
      return looked["ready"] == "t" if looked["ready"] == "t" || left <= 0

      @connection.wait_for_notify([left, again.shift || left, looked["next_seconds"]&.to_f || left].min)
    end
  end

  def look(columns, kind)
    @connection.exec_params("select #{columns} from queue_listen($1)", [JSON.generate([kind])]).first
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def refused
    yield
  rescue PG::Error => e
    e.result.error_field(PG::Result::PG_DIAG_SQLSTATE)
  end

  def close = @connection.close
end

class OnMysql
  def initialize(url)
    require "mysql2"
    part = URI(url)
    user, password = [part.user, part.password].map { |text| URI.decode_www_form_component(text) }
    @client = Mysql2::Client.new(host: part.host, port: part.port || 3306, username: user, password: password,
                                 database: part.path.delete_prefix("/"), encoding: "utf8mb4")
    @client.query("set session transaction isolation level read committed")
  end

  def call(routine, *given)
    marks = given.map { |value| value.nil? ? "null" : "'#{@client.escape(value.to_s)}'" }.join(", ")
    rows = @client.query("call #{routine}(#{marks})").to_a
    @client.abandon_results! # a procedure answers with something behind its rows
    rows
  end

  def wait(kind, seconds) = call("queue_wait", JSON.generate([kind]), seconds).any?

  def refused
    yield
  rescue Mysql2::Error => e
    e.sql_state
  end

  def close = @client.close
end

queue = url.start_with?("postgresql:") ? OnPostgresql.new(url) : OnMysql.new(url)
to = ->(row) { JSON.parse(row["payload"])["to"] }

[%w[m1 ann], %w[m1 eve], %w[m2 bob], %w[m3 carol]].each do |key, name|
  pushed, = queue.call("queue_push", "mail", key, JSON.generate(to: name), nil)
  puts "push #{key}: #{pushed["outcome"]}"
end

first, = queue.call("queue_reserve", "mail", "example", 1, nil)
puts "reserve: #{first["p_key"]} for #{to.(first)}"
kept, = queue.call("queue_extend", first["receipt"], 600)
puts "extend: #{kept["outcome"]}"

# the loop of a consumer: acks what is done, and takes the next
second, = queue.call("queue_next", JSON.generate([first["receipt"]]), "mail", "example", 1, nil)
puts "next: #{second["p_key"]} for #{to.(second)}"
failed = JSON.generate(error: "no such address", delay_seconds: 600)
back, = queue.call("queue_nack", second["receipt"], failed)
puts "nack: #{back["outcome"]}"

third, = queue.call("queue_next", nil, "mail", "example", 1, nil)
puts "next: #{third["p_key"]} for #{to.(third)}"
moved, = queue.call("queue_move", third["receipt"], "sent", nil)
puts "move: #{moved["outcome"]}"

sent, = queue.call("queue_reserve", "sent", "example", 1, nil)
puts "reserve: #{sent["p_key"]} for #{to.(sent)}"
2.times do # the second comes too late, which is an answer and no error
  done, = queue.call("queue_ack", sent["receipt"], nil)
  puts "ack: #{done["outcome"]}"
end

puts "refused: #{queue.refused { queue.call("queue_push", "", "m1", "{}", nil) }}"

puts "waiting for a message"
puts "woken: #{queue.wait("mail", 300)}"
late, = queue.call("queue_reserve", "mail", "example", 1, nil)
puts "reserve: #{late["p_key"]} for #{to.(late)}"
# who ends gives back what it holds, and the attempt doesn't count
given, = queue.call("queue_nack", late["receipt"], JSON.generate(count: false))
puts "give back: #{given["outcome"]}"
queue.close
puts "closed"
