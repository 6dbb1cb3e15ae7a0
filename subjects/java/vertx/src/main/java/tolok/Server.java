package tolok;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.mysqlclient.MySQLBuilder;
import io.vertx.mysqlclient.MySQLConnectOptions;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PoolOptions;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;

/** Answers the workloads with Vert.x: one event loop for each instance. */
public class Server extends VerticleBase {
    private static final String BY_ID = "SELECT * FROM rows40_text WHERE id = ?";

    private Pool database;

    public static void main(String[] arguments) {
        Vertx.vertx().deployVerticle(Server.class, new DeploymentOptions().setInstances(number("INSTANCES"))).await();
    }

    @Override
    public Future<?> start() {
        database = openDatabase();
        Router router = Router.router(vertx);
        router.get("/hello").handler(it ->
            it.response().putHeader("content-type", "text/html; charset=utf-8").end("<h1>Hello, World!</h1>"));
        router.get("/json").handler(it -> it.json(new JsonObject().put("message", "Hello, World!")));
        router.get("/rows").handler(this::rows);
        router.get("/query").handler(this::query);
        router.get("/queries").handler(this::queries);
        return vertx.createHttpServer().requestHandler(router).listen(number("PORT"), System.getenv("HOST"));
    }

    /** A pool for all instances, which connects to nothing yet. */
    private Pool openDatabase() {
        var server = new MySQLConnectOptions()
            .setHost(System.getenv("DATABASE_HOST"))
            .setPort(number("DATABASE_PORT"))
            .setDatabase(System.getenv("DATABASE_NAME"))
            .setUser(System.getenv("DATABASE_USER"))
            .setPassword(System.getenv("DATABASE_PASSWORD"))
            .setCachePreparedStatements(System.getenv("PREPARED").equals("kept"));
        var size = new PoolOptions().setName("database").setShared(true).setMaxSize(number("DATABASE_POOL"));
        return MySQLBuilder.pool().with(size).connectingTo(server).using(vertx).build();
    }

    private void rows(RoutingContext context) {
        long fields = parameter(context, "fields", 50);
        long limit = parameter(context, "limit", 10_000);
        if (fields != 40 && fields != 50 || limit == 0) {
            context.fail(400);
            return;
        }
        database.preparedQuery("SELECT * FROM rows" + fields + "_text ORDER BY id LIMIT ?")
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
        long n = parameter(context, "n", 500);
        long x = parameter(context, "seed", 2_147_483_646);
        if (n == 0 || x == 0) {
            context.fail(400);
            return;
        }
        var rows = Future.succeededFuture(new JsonArray());
        for (int i = 0; i < n; i++) {
            x = x * 16_807 % 2_147_483_647;
            long id = 1 + x % 10_000;
            rows = rows.compose(found -> find(id).map(found::add));
        }
        rows.onSuccess(found -> send(context, found.encode())).onFailure(error -> context.fail(503));
    }

    private Future<JsonObject> find(long id) {
        return database.preparedQuery(BY_ID).execute(Tuple.of(id)).map(rows -> object(rows.iterator().next()));
    }

    /** A text, as the codec for bytes would write an emoji as two escapes. */
    private static void send(RoutingContext context, String json) {
        context.response().putHeader("content-type", "application/json").end(json);
    }

    private static JsonArray list(RowSet<Row> rows) {
        var list = new JsonArray();
        rows.forEach(row -> list.add(object(row)));
        return list;
    }

    /** Decimals become strings, as the contract wants them. */
    private static JsonObject object(Row row) {
        var object = new JsonObject();
        for (int i = 0; i < row.size(); i++) {
            Object value = row.getValue(i);
            boolean isWhole = value instanceof Byte || value instanceof Short || value instanceof Integer || value instanceof Long;
            object.put(row.getColumnName(i), value == null || isWhole ? value : value.toString());
        }
        return object;
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
