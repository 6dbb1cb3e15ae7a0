package tolok;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.stream.LongStream;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.jackson.autoconfigure.JsonMapperBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.EmptyResultDataAccessException;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.ModelAndView;

/** Answers the workloads with Spring Boot. */
@SpringBootApplication
@RestController
public class Server {
    private static final String BY_ID = "SELECT * FROM rows40_text WHERE id = ?";

    private static final String LOCK_STOCK = "SELECT amount FROM stock WHERE id = ? FOR UPDATE";
    private static final String SET_STOCK = "UPDATE stock SET amount = ? WHERE id = ?";
    private static final String STOCK = "SELECT amount, id FROM stock WHERE id = ?";
    private static final String PUT_MYSQL =
        "INSERT INTO stock (amount, id) VALUES (?, ?) ON DUPLICATE KEY UPDATE amount = VALUES(amount)";
    private static final String PUT_POSTGRESQL =
        "INSERT INTO stock (amount, id) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET amount = excluded.amount";
    private static final String DELETE_STOCK = "DELETE FROM stock WHERE id = ?";
    private static final int MOST_KEPT = 512;
    private static final String[] NAMES =
        {"anvil", "basket", "candle", "drum", "easel", "funnel", "goblet", "hammer"};

    private final JdbcTemplate database;
    private final TransactionTemplate transaction;
    private final String putStock;

    /** A reading is added before it begins. So a change always invalidates it, however long the reading takes. */
    private final Map<Long, FutureTask<Optional<Stock>>> kept = new ConcurrentHashMap<>();

    record Message(String message) {}

    record Rating(long stars, long votes) {}

    record Item(
        long id,
        String name,
        @JsonProperty("price_cents") long price,
        long quantity,
        @JsonProperty("in_stock") boolean inStock,
        Rating rating,
        @JsonProperty("total_cents") long total) {

        static Item of(long x) {
            long price = 1 + x % 10_000;
            long quantity = 1 + x % 9;
            var rating = new Rating(1 + x % 5, x % 1_000);
            return new Item(x, NAMES[(int) (x % 8)], price, quantity, x % 3 == 0, rating, price * quantity);
        }
    }

    record Received(int bytes, String sha256) {}

    record Fortune(long id, String message) {}

    record Stock(int amount, long id) {}

    record Amount(Integer amount) {}

    Server(
        JdbcTemplate database, TransactionTemplate transaction, @Value("${DATABASE_ENGINE}") String engine) {
        this.database = database;
        this.transaction = transaction;
        this.putStock = engine.equals("postgresql") ? PUT_POSTGRESQL : PUT_MYSQL;
    }

    public static void main(String[] arguments) {
        SpringApplication.run(Server.class, arguments);
    }

    @GetMapping(path = "/hello", produces = MediaType.TEXT_HTML_VALUE)
    String hello() {
        return "<h1>Hello, World!</h1>";
    }

    @GetMapping("/json")
    Message json() {
        return new Message("Hello, World!");
    }

    @GetMapping({"/items", "/compressed"})
    List<Item> items(@RequestParam int n, @RequestParam long seed) {
        return drawn(n, 1_000, seed).mapToObj(Item::of).toList();
    }

    @PostMapping("/upload")
    Received upload(@RequestBody(required = false) byte[] body) throws NoSuchAlgorithmException {
        byte[] sent = body == null ? new byte[0] : body;
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(sent);
        return new Received(sent.length, HexFormat.of().formatHex(digest));
    }

    @GetMapping("/rows")
    List<Map<String, Object>> rows(@RequestParam int fields, @RequestParam int limit) {
        require((fields == 40 || fields == 50) && limit >= 1 && limit <= 10_000);
        return database.queryForList("SELECT * FROM rows" + fields + "_text ORDER BY id LIMIT ?", limit);
    }

    @GetMapping("/query")
    Map<String, Object> query(@RequestParam int id) {
        require(id >= 1 && id <= 10_000);
        return database.queryForMap(BY_ID, id);
    }

    @GetMapping("/queries")
    List<Map<String, Object>> queries(@RequestParam int n, @RequestParam long seed) {
        return keys(n, 500, seed).mapToObj(id -> database.queryForMap(BY_ID, id)).toList();
    }

    @GetMapping("/fortunes")
    ModelAndView fortunes(@RequestParam String add) {
        int length = add.getBytes(StandardCharsets.UTF_8).length;
        require(length >= 1 && length <= 200);
        var rows = new ArrayList<Fortune>();
        rows.add(new Fortune(0, add));
        database.query(
            "SELECT id, message FROM fortune", row -> { rows.add(new Fortune(row.getLong(1), row.getString(2))); });
        rows.sort(Comparator.comparing(Fortune::message));
        return new ModelAndView("fortunes", "rows", rows);
    }

    /** The keys ascend: locking rows in the same order prevents deadlocks. */
    @PostMapping("/updates")
    List<Stock> updates(@RequestParam int n, @RequestParam long seed) {
        var ids = keys(n, 100, seed).distinct().sorted().boxed().toList();
        return transaction.execute(status -> ids.stream().map(this::addOne).toList());
    }

    private Stock addOne(long id) {
        int amount = database.queryForObject(LOCK_STOCK, Integer.class, id) + 1;
        database.update(SET_STOCK, amount, id);
        return new Stock(amount, id);
    }

    /** One row, from the cache if it is there. */
    @GetMapping("/crud")
    Stock readRow(@RequestParam long id) throws InterruptedException {
        requireId(id);
        if (kept.size() >= MOST_KEPT && !kept.containsKey(id)) {
            kept.keySet().stream().findAny().ifPresent(kept::remove);
        }
        var reading = kept.computeIfAbsent(id, key -> new FutureTask<>(() -> stored(key)));
        // The first request reads the row, and the others wait.
        reading.run();
        try {
            return reading.get().orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND));
        } catch (ExecutionException error) {
            kept.remove(id, reading);
            throw new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE);
        }
    }

    private Optional<Stock> stored(long id) {
        return database
            .query(STOCK, (row, number) -> new Stock(row.getInt(1), row.getLong(2)), id)
            .stream()
            .findFirst();
    }

    @PutMapping("/crud")
    Stock writeRow(@RequestParam long id, @RequestBody Amount sent) {
        requireId(id);
        require(sent.amount() != null && sent.amount() >= 0 && sent.amount() <= 999_999_999);
        change(id, putStock, sent.amount(), id);
        return new Stock(sent.amount(), id);
    }

    @DeleteMapping("/crud")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void deleteRow(@RequestParam long id) {
        requireId(id);
        change(id, DELETE_STOCK, id);
    }

    /** A failed change may still have been made, so it also invalidates the row. */
    private void change(long id, String statement, Object... values) {
        try {
            database.update(statement, values);
        } finally {
            kept.remove(id);
        }
    }

    private static void requireId(long id) {
        require(id >= 1 && id <= 1_000_000_000);
    }

    private static LongStream keys(int n, int most, long seed) {
        return drawn(n, most, seed).map(x -> 1 + x % 10_000);
    }

    /** Numbers derived from a seed. */
    private static LongStream drawn(int n, int most, long seed) {
        require(n >= 1 && n <= most && seed >= 1 && seed <= 2_147_483_646);
        return LongStream.iterate(seed, x -> x * 16_807 % 2_147_483_647).skip(1).limit(n);
    }

    private static void require(boolean valid) {
        if (!valid) {
            throw new ResponseStatusException(HttpStatus.BAD_REQUEST);
        }
    }

    @ExceptionHandler
    @ResponseStatus(HttpStatus.NOT_FOUND)
    void missing(EmptyResultDataAccessException error) {}

    @ExceptionHandler
    @ResponseStatus(HttpStatus.SERVICE_UNAVAILABLE)
    void failed(DataAccessException error) {}

    /** The contract requires decimals as strings. */
    @Bean
    JsonMapperBuilderCustomizer decimals() {
        var asText = JsonFormat.Value.forShape(JsonFormat.Shape.STRING);
        return json -> json.withConfigOverride(BigDecimal.class, it -> it.setFormat(asText));
    }
}
