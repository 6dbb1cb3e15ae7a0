package tolok;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import io.vertx.ext.web.templ.freemarker.FreeMarkerTemplateEngine;
import io.vertx.mysqlclient.MySQLBuilder;
import io.vertx.mysqlclient.MySQLConnectOptions;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PoolOptions;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.SqlConnectOptions;
import io.vertx.sqlclient.Tuple;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.LongStream;

/** Answers the workloads with Vert.x: one event loop for each instance. */
public class Server extends VerticleBase {
    private static final boolean IS_POSTGRES = "postgres".equals(System.getenv("DATABASE_ENGINE"));

    private static final String BY_ID = numbered("SELECT * FROM rows40_text WHERE id = ?");
    private static final String LOCK_STOCK = numbered("SELECT amount FROM stock WHERE id = ? FOR UPDATE");
    private static final String SET_STOCK = numbered("UPDATE stock SET amount = ? WHERE id = ?");
    private static final String ONE_STOCK = numbered("SELECT amount, id FROM stock WHERE id = ?");
    private static final String PUT_STOCK = numbered("INSERT INTO stock (amount, id) VALUES (?, ?) "
        + (IS_POSTGRES
            ? "ON CONFLICT (id) DO UPDATE SET amount = excluded.amount"
            : "ON DUPLICATE KEY UPDATE amount = VALUES(amount)"));
    private static final String DELETE_STOCK = numbered("DELETE FROM stock WHERE id = ?");
    private static final int LARGEST_ID = 1_000_000_000;
    private static final RowCache CACHE = new RowCache();
    private static final String[] NAMES =
        {"anvil", "basket", "candle", "drum", "easel", "funnel", "goblet", "hammer"};

    private Pool database;
    private FreeMarkerTemplateEngine templates;

    public static void main(String[] arguments) {
        Vertx.vertx().deployVerticle(Server.class, new DeploymentOptions().setInstances(number("INSTANCES"))).await();
    }

    @Override
    public Future<?> start() {
        database = openDatabase();
        templates = FreeMarkerTemplateEngine.create(vertx);
        Router router = Router.router(vertx);
        router.get("/hello").handler(it ->
            it.response().putHeader("content-type", "text/html; charset=utf-8").end("<h1>Hello, World!</h1>"));
        router.get("/json").handler(it -> it.json(new JsonObject().put("message", "Hello, World!")));
        router.get("/items").handler(this::items);
        router.post("/upload").handler(BodyHandler.create(false)).handler(this::upload);
        router.get("/rows").handler(this::rows);
        router.get("/query").handler(this::query);
        router.get("/queries").handler(this::queries);
        router.get("/fortunes").handler(this::fortunes);
        router.post("/updates").handler(this::updates);
        router.get("/crud").handler(this::readRow);
        router.put("/crud").handler(BodyHandler.create(false)).handler(this::writeRow);
        router.delete("/crud").handler(this::deleteRow);
        return vertx.createHttpServer().requestHandler(router).listen(number("PORT"), System.getenv("HOST"));
    }

    /** A pool for all instances, not yet connected. */
    private Pool openDatabase() {
        var size = new PoolOptions().setName("database").setShared(true).setMaxSize(number("DATABASE_POOL"));
        if (IS_POSTGRES) {
            return PgBuilder.pool().with(size).connectingTo(filled(new PgConnectOptions())).using(vertx).build();
        }
        return MySQLBuilder.pool().with(size).connectingTo(filled(new MySQLConnectOptions())).using(vertx).build();
    }

    private static <T extends SqlConnectOptions> T filled(T server) {
        server
            .setHost(System.getenv("DATABASE_HOST"))
            .setPort(number("DATABASE_PORT"))
            .setDatabase(System.getenv("DATABASE_NAME"))
            .setUser(System.getenv("DATABASE_USER"))
            .setPassword(System.getenv("DATABASE_PASSWORD"))
            .setCachePreparedStatements(System.getenv("PREPARED").equals("kept"));
        return server;
    }

    /** PostgreSQL numbers its parameters. */
    private static String numbered(String statement) {
        var count = new AtomicInteger();
        return IS_POSTGRES
            ? Pattern.compile("\\?").matcher(statement).replaceAll(it -> "\\$" + count.incrementAndGet())
            : statement;
    }

    private void items(RoutingContext context) {
        long[] numbers = drawn(context, 1_000);
        if (numbers.length == 0) {
            context.fail(400);
            return;
        }
        var items = new JsonArray();
        for (long x : numbers) {
            items.add(item(x));
        }
        context.json(items);
    }

    private static JsonObject item(long x) {
        long price = 1 + x % 10_000;
        long quantity = 1 + x % 9;
        return new JsonObject()
            .put("id", x)
            .put("name", NAMES[(int) (x % 8)])
            .put("price_cents", price)
            .put("quantity", quantity)
            .put("in_stock", x % 3 == 0)
            .put("rating", new JsonObject().put("stars", 1 + x % 5).put("votes", x % 1_000))
            .put("total_cents", price * quantity);
    }

    private void upload(RoutingContext context) {
        var body = context.body().buffer();
        byte[] sent = body == null ? new byte[0] : body.getBytes();
        context.json(new JsonObject().put("bytes", sent.length).put("sha256", sha256(sent)));
    }

    private static String sha256(byte[] sent) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(sent));
        } catch (NoSuchAlgorithmException error) {
            throw new IllegalStateException(error); // Every JDK has it.
        }
    }

    private void rows(RoutingContext context) {
        long fields = parameter(context, "fields", 50);
        long limit = parameter(context, "limit", 10_000);
        if (fields != 40 && fields != 50 || limit == 0) {
            context.fail(400);
            return;
        }
        database.preparedQuery(numbered("SELECT * FROM rows" + fields + "_text ORDER BY id LIMIT ?"))
            .execute(Tuple.of(limit))
            .onSuccess(rows -> send(context, list(rows).encode()))
            .onFailure(error -> context.fail(503));
    }

    private void query(RoutingContext context) {
        long id = parameter(context, "id", 10_000);
        if (id == 0) {
            context.fail(400);
            return;
        }
        find(id).onSuccess(row -> send(context, row.encode())).onFailure(error -> context.fail(503));
    }

    private void queries(RoutingContext context) {
        long[] ids = keys(context, 500).toArray();
        if (ids.length == 0) {
            context.fail(400);
            return;
        }
        var rows = Future.succeededFuture(new JsonArray());
        for (long id : ids) {
            rows = rows.compose(found -> find(id).map(found::add));
        }
        rows.onSuccess(found -> send(context, found.encode())).onFailure(error -> context.fail(503));
    }

    private void fortunes(RoutingContext context) {
        String add = context.request().getParam("add", "");
        int length = add.getBytes(StandardCharsets.UTF_8).length;
        if (length < 1 || length > 200) {
            context.fail(400);
            return;
        }
        database.query("SELECT id, message FROM fortune").execute()
            .compose(found -> {
                var rows = new ArrayList<Map<String, Object>>();
                rows.add(Map.of("id", 0, "message", add));
                found.forEach(row -> rows.add(Map.of("id", row.getInteger(0), "message", row.getString(1))));
                rows.sort(Comparator.comparing(row -> (String) row.get("message")));
                return templates.render(Map.of("rows", rows), "templates/fortunes.ftl");
            })
            .onSuccess(page -> context.response().putHeader("content-type", "text/html; charset=utf-8").end(page))
            .onFailure(error -> context.fail(503));
    }

    /** The keys ascend: locking rows in the same order prevents deadlocks. */
    private void updates(RoutingContext context) {
        long[] ids = keys(context, 100).distinct().sorted().toArray();
        if (ids.length == 0) {
            context.fail(400);
            return;
        }
        database.withTransaction(connection -> {
            var changed = Future.succeededFuture(new JsonArray());
            for (long id : ids) {
                changed = changed.compose(rows -> addOne(connection, id).map(rows::add));
            }
            return changed;
        }).onSuccess(rows -> send(context, rows.encode())).onFailure(error -> context.fail(503));
    }

    private static Future<JsonObject> addOne(SqlClient connection, long id) {
        return connection.preparedQuery(LOCK_STOCK).execute(Tuple.of(id)).compose(rows -> {
            int amount = rows.iterator().next().getInteger(0) + 1;
            var changed = new JsonObject().put("amount", amount).put("id", id);
            return connection.preparedQuery(SET_STOCK).execute(Tuple.of(amount, id)).map(changed);
        });
    }

    /** Another event loop may have read the row, so the answer runs in this verticle's context. */
    private void readRow(RoutingContext request) {
        long id = parameter(request, "id", LARGEST_ID);
        if (id == 0) {
            request.fail(400);
            return;
        }
        CACHE.row(id, () -> stock(id)).onComplete(read -> context.runOnContext(it -> {
            if (read.failed()) {
                request.fail(503);
            } else if (read.result() == null) {
                request.fail(404);
            } else {
                send(request, read.result().encode());
            }
        }));
    }

    private Future<JsonObject> stock(long id) {
        return database.preparedQuery(ONE_STOCK).execute(Tuple.of(id))
            .map(rows -> rows.size() == 0 ? null : object(rows.iterator().next()));
    }

    private void writeRow(RoutingContext context) {
        long id = parameter(context, "id", LARGEST_ID);
        int amount = sentAmount(context);
        if (id == 0 || amount < 0) {
            context.fail(400);
            return;
        }
        String row = new JsonObject().put("amount", amount).put("id", id).encode();
        change(id, PUT_STOCK, Tuple.of(amount, id))
            .onSuccess(done -> send(context, row))
            .onFailure(error -> context.fail(503));
    }

    private void deleteRow(RoutingContext context) {
        long id = parameter(context, "id", LARGEST_ID);
        if (id == 0) {
            context.fail(400);
            return;
        }
        change(id, DELETE_STOCK, Tuple.of(id))
            .onSuccess(done -> context.response().setStatusCode(204).end())
            .onFailure(error -> context.fail(503));
    }

    /** A failed change may still have been made, so it also invalidates the row. */
    private Future<RowSet<Row>> change(long id, String statement, Tuple values) {
        return database.preparedQuery(statement).execute(values).onComplete(done -> CACHE.forget(id));
    }

    /** From 0 to 999,999,999, or -1 for anything else. */
    private static int sentAmount(RoutingContext context) {
        try {
            JsonObject sent = context.body().asJsonObject();
            Object amount = sent == null ? null : sent.getValue("amount");
            return amount instanceof Integer whole && whole >= 0 && whole <= 999_999_999 ? whole : -1;
        } catch (DecodeException | ClassCastException error) {
            return -1; // Not an object.
        }
    }

    private Future<JsonObject> find(long id) {
        return database.preparedQuery(BY_ID).execute(Tuple.of(id)).map(rows -> object(rows.iterator().next()));
    }

    /** Sends a string, because the codec for bytes would write an emoji as two escapes. */
    private static void send(RoutingContext context, String json) {
        context.response().putHeader("content-type", "application/json").end(json);
    }

    private static JsonArray list(RowSet<Row> rows) {
        var list = new JsonArray();
        rows.forEach(row -> list.add(object(row)));
        return list;
    }

    /** Decimals become strings, as the contract requires. */
    private static JsonObject object(Row row) {
        var object = new JsonObject();
        for (int i = 0; i < row.size(); i++) {
            Object value = row.getValue(i);
            boolean isWhole = value instanceof Byte || value instanceof Short || value instanceof Integer || value instanceof Long;
            object.put(row.getColumnName(i), value == null || isWhole ? value : value.toString());
        }
        return object;
    }

    private static LongStream keys(RoutingContext context, int most) {
        return LongStream.of(drawn(context, most)).map(x -> 1 + x % 10_000);
    }

    /** Numbers derived from a seed; none if the parameters are invalid. */
    private static long[] drawn(RoutingContext context, int most) {
        long n = parameter(context, "n", most);
        long seed = parameter(context, "seed", 2_147_483_646);
        long count = seed == 0 ? 0 : n;
        return LongStream.iterate(seed, x -> x * 16_807 % 2_147_483_647).skip(1).limit(count).toArray();
    }

    /** From 1 to the largest, or 0 for anything else. */
    private static long parameter(RoutingContext context, String name, long largest) {
        try {
            long value = Long.parseLong(context.request().getParam(name, ""));
            return value >= 1 && value <= largest ? value : 0;
        } catch (NumberFormatException error) {
            return 0;
        }
    }

    private static int number(String name) {
        return Integer.parseInt(System.getenv(name));
    }
}
