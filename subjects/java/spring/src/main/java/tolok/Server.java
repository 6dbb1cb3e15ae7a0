package tolok;

import com.fasterxml.jackson.annotation.JsonFormat;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.jackson.autoconfigure.JsonMapperBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.EmptyResultDataAccessException;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Answers the workloads with Spring Boot. */
@SpringBootApplication
@RestController
public class Server {
    private static final String BY_ID = "SELECT * FROM rows40_text WHERE id = ?";

    private final JdbcTemplate database;

    record Message(String message) {}

    Server(JdbcTemplate database) {
        this.database = database;
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
        require(n >= 1 && n <= 500 && seed >= 1 && seed <= 2_147_483_646);
        var rows = new ArrayList<Map<String, Object>>(n);
        for (long x = seed; rows.size() < n; ) {
            x = x * 16_807 % 2_147_483_647;
            rows.add(database.queryForMap(BY_ID, 1 + x % 10_000));
        }
        return rows;
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

    /** The contract wants decimals as strings. */
    @Bean
    JsonMapperBuilderCustomizer decimals() {
        var asText = JsonFormat.Value.forShape(JsonFormat.Shape.STRING);
        return json -> json.withConfigOverride(BigDecimal.class, it -> it.setFormat(asText));
    }
}
