package tolok;

import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/** A cache of rows for all event loops. A reading is added before it ends, so that a change always invalidates it. */
class RowCache {
    private static final int MOST = 512;

    private final Map<Long, Future<JsonObject>> kept = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Future<JsonObject>> eldest) {
            return size() > MOST;
        }
    };

    synchronized Future<JsonObject> row(long id, Supplier<Future<JsonObject>> read) {
        Future<JsonObject> known = kept.get(id);
        if (known != null) {
            return known;
        }
        Future<JsonObject> reading = read.get();
        kept.put(id, reading);
        return reading.onFailure(error -> forget(id));
    }

    synchronized void forget(long id) {
        kept.remove(id);
    }
}
