// Calls routines as an application with JDBC does. A line in: the routine and its arguments, between tabs. A line out: rows, or the error.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Properties;

/**
 * An argument is N, or T or B and the base64 of UTF-16 or of bytes. The answer is E, the SQLSTATE, the number and the text of an error, or R, the
 * names of the columns and the rows, each between commas; a cell is empty for NULL, else = and base64.
 */
public class Call {
    public static void main(String[] arguments) throws Exception {
        URI url = new URI(System.getenv("PYQUEUE_URL"));
        boolean postgresql = url.getScheme().equals("postgresql");
        String[] login = url.getUserInfo().split(":", 2);
        Properties given = new Properties();
        given.setProperty("user", login[0]);
        given.setProperty("password", login[1]);
        given.setProperty("stringtype", "unspecified"); // PostgreSQL takes a string for JSON, too
        given.setProperty("allowPublicKeyRetrieval", "true"); // MySQL without TLS
        String where = url.getHost() + ":" + url.getPort() + url.getPath();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        try (Connection connection = DriverManager.getConnection("jdbc:" + (postgresql ? "postgresql" : "mariadb") + "://" + where, given)) {
            if (!postgresql) {
                connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            }
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String answer;
                try {
                    answer = call(connection, postgresql, line.split("\t"));
                } catch (SQLException error) {
                    answer = "E\t" + error.getSQLState() + "\t" + error.getErrorCode() + "\t" + text(error.getMessage());
                }
                System.out.println(answer);
                System.out.flush();
            }
        }
    }

    private static String call(Connection connection, boolean postgresql, String[] parts) throws SQLException {
        String marks = String.join(", ", java.util.Collections.nCopies(parts.length - 1, "?"));
        boolean binary = !postgresql || parts[0].equals("queue_push_bytes");
        try (PreparedStatement statement =
                connection.prepareStatement((postgresql ? "select * from " : "call ") + parts[0] + "(" + marks + ")")) {
            for (int place = 1; place < parts.length; place++) {
                byte[] value = Base64.getDecoder().decode(parts[place].substring(1));
                switch (parts[place].charAt(0)) {
                    case 'N' -> statement.setString(place, null);
                    case 'T' -> statement.setString(place, new String(value, StandardCharsets.UTF_16BE));
                    default -> {
                        if (binary) {
                            statement.setBytes(place, value);
                        } else {
                            statement.setString(place, new String(value, StandardCharsets.ISO_8859_1));
                        }
                    }
                }
            }
            StringBuilder answer = new StringBuilder("R");
            boolean more = statement.execute();
            while (more || statement.getUpdateCount() != -1) { // an error may come after the rows
                if (more && answer.length() == 1) {
                    append(answer, statement.getResultSet());
                }
                more = statement.getMoreResults();
            }
            return answer.toString();
        }
    }

    private static void append(StringBuilder answer, ResultSet found) throws SQLException {
        List<String> names = new ArrayList<>();
        for (int column = 1; column <= found.getMetaData().getColumnCount(); column++) {
            names.add(found.getMetaData().getColumnLabel(column));
        }
        answer.append('\t').append(String.join(",", names));
        while (found.next()) {
            List<String> cells = new ArrayList<>();
            for (String name : names) {
                if (name.equals("payload_bytes")) {
                    byte[] value = found.getBytes(name);
                    cells.add(value == null ? "" : "=" + Base64.getEncoder().encodeToString(value));
                } else {
                    String value = found.getString(name);
                    cells.add(value == null ? "" : "=" + text(value));
                }
            }
            answer.append('\t').append(String.join(",", cells));
        }
    }

    private static String text(String value) {
        return Base64.getEncoder().encodeToString(value.getBytes(StandardCharsets.UTF_16BE));
    }
}
