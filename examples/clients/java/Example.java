// A consumer in Java, by JDBC. PYQUEUE_URL is postgresql://user:password@host:port/database, or mysql://… for MySQL and MariaDB.
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Queue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.postgresql.PGConnection;

public class Example {
    private final Connection connection;
    private final boolean postgresql;

    Example(URI url) throws SQLException {
        postgresql = url.getScheme().equals("postgresql");
        String[] login = url.getUserInfo().split(":", 2);
        Properties given = new Properties();
        given.setProperty("user", login[0]);
        given.setProperty("password", login[1]);
        given.setProperty("stringtype", "unspecified"); // PostgreSQL takes a string for JSON, too
        given.setProperty("allowPublicKeyRetrieval", "true"); // MySQL without TLS
        String where = url.getHost() + ":" + url.getPort() + url.getPath();
        connection = DriverManager.getConnection("jdbc:" + (postgresql ? "postgresql" : "mariadb") + "://" + where, given);
        if (!postgresql) {
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        }
    }

    List<Map<String, String>> call(String routine, Object... given) throws SQLException {
        String marks = String.join(", ", java.util.Collections.nCopies(given.length, "?"));
        return rows((postgresql ? "select * from " : "call ") + routine + "(" + marks + ")", given);
    }

    Map<String, String> one(String routine, Object... given) throws SQLException {
        return call(routine, given).get(0);
    }

    private List<Map<String, String>> rows(String sql, Object... given) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int place = 0; place < given.length; place++) {
                statement.setObject(place + 1, given[place]);
            }
            List<Map<String, String>> rows = new ArrayList<>();
            try (ResultSet found = statement.executeQuery()) {
                while (found.next()) {
                    Map<String, String> row = new HashMap<>();
                    for (int column = 1; column <= found.getMetaData().getColumnCount(); column++) {
                        row.put(found.getMetaData().getColumnLabel(column), found.getString(column));
                    }
                    rows.add(row);
                }
            }
            return rows;
        }
    }

    boolean await(String kind, double seconds) throws SQLException {
        String kinds = "[\"" + kind + "\"]";
        if (!postgresql) {
            return !call("queue_wait", kinds, seconds).isEmpty();
        }
        // listens first and looks then: what is pushed between the two is an event
        long until = System.nanoTime() + (long) (seconds * 1e9);
        Queue<Double> again = new ArrayDeque<>(List.of(0.05, 0.2, 1.0)); // a push may have been committing
        String channel = rows("select channel from queue_listen(?)", kinds).get(0).get("channel");
        connection.createStatement().execute("listen " + channel);
        while (true) {
            Map<String, String> looked = rows("select ready, next_seconds from queue_listen(?)", kinds).get(0);
            double left = (until - System.nanoTime()) / 1e9;
            if (looked.get("ready").equals("t") || left <= 0) {
                return looked.get("ready").equals("t");
            }
            double pause = again.isEmpty() ? left : Math.min(left, again.remove());
            String next = looked.get("next_seconds");
            pause = next == null ? pause : Math.min(pause, Double.parseDouble(next));
            connection.unwrap(PGConnection.class).getNotifications(Math.max(1, (int) (pause * 1000)));
        }
    }

    /** Whom the mail is for; an application has a library for JSON. */
    static String to(Map<String, String> row) {
        Matcher found = Pattern.compile("\"to\": *\"(.*?)\"").matcher(row.get("payload"));
        return found.find() ? found.group(1) : null;
    }

    public static void main(String[] arguments) throws SQLException {
        Example queue = new Example(URI.create(System.getenv("PYQUEUE_URL")));
        for (String[] mail : new String[][] {{"m1", "ann"}, {"m1", "eve"}, {"m2", "bob"}, {"m3", "carol"}}) {
            var pushed = queue.one("queue_push", "mail", mail[0], "{\"to\": \"" + mail[1] + "\"}", null);
            System.out.println("push " + mail[0] + ": " + pushed.get("outcome"));
        }

        var first = queue.one("queue_reserve", "mail", "example", 1, null);
        System.out.println("reserve: " + first.get("p_key") + " for " + to(first));
        System.out.println("extend: " + queue.one("queue_extend", first.get("receipt"), 600).get("outcome"));

        // the loop of a consumer: acks what is done, and takes the next
        var second = queue.one("queue_next", "[\"" + first.get("receipt") + "\"]", "mail", "example", 1, null);
        System.out.println("next: " + second.get("p_key") + " for " + to(second));
        String failed = "{\"error\": \"no such address\", \"delay_seconds\": 600}";
        System.out.println("nack: " + queue.one("queue_nack", second.get("receipt"), failed).get("outcome"));

        var third = queue.one("queue_next", null, "mail", "example", 1, null);
        System.out.println("next: " + third.get("p_key") + " for " + to(third));
        System.out.println("move: " + queue.one("queue_move", third.get("receipt"), "sent", null).get("outcome"));

        var sent = queue.one("queue_reserve", "sent", "example", 1, null);
        System.out.println("reserve: " + sent.get("p_key") + " for " + to(sent));
        for (int time = 1; time <= 2; time++) { // the second comes too late, which is an answer and no error
            System.out.println("ack: " + queue.one("queue_ack", sent.get("receipt"), null).get("outcome"));
        }

        try {
            queue.call("queue_push", "", "m1", "{}", null);
        } catch (SQLException error) {
            System.out.println("refused: " + error.getSQLState());
        }

        System.out.println("waiting for a message");
        System.out.println("woken: " + queue.await("mail", 300));
        var late = queue.one("queue_reserve", "mail", "example", 1, null);
        System.out.println("reserve: " + late.get("p_key") + " for " + to(late));
        // who ends gives back what it holds, and the attempt doesn't count
        System.out.println("give back: " + queue.one("queue_nack", late.get("receipt"), "{\"count\": false}").get("outcome"));
        queue.connection.close();
        System.out.println("closed");
    }
}
