package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"net/http"
	"sync"
)

// mostKept is the capacity of the cache.
const mostKept = 512

// rowCache caches rows. An entry is added before its row is read. So a change always invalidates it, however long the read takes.
type rowCache struct {
	mutex   sync.Mutex
	entries map[int]*entry
}

// entry is read by the first request; the others wait.
type entry struct {
	once  sync.Once
	row   stock
	found bool
	err   error
}

func (c *rowCache) entry(id int) *entry {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if known, ok := c.entries[id]; ok {
		return known
	}
	if len(c.entries) >= mostKept {
		for other := range c.entries {
			delete(c.entries, other)
			break
		}
	}
	added := new(entry)
	c.entries[id] = added
	return added
}

func (c *rowCache) forget(id int) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	delete(c.entries, id)
}

const rowID = "id must be 1 to 1000000000"

// readRow answers with one row, from the cache if it is there.
func (t *tables) readRow(w http.ResponseWriter, r *http.Request) {
	id, ok := number(r.URL.Query(), "id", 1_000_000_000)
	if !ok {
		http.Error(w, rowID, http.StatusBadRequest)
		return
	}
	entry := t.cache.entry(id)
	entry.once.Do(func() {
		// Other requests may wait for this row, even if the first client has hung up.
		ctx := context.WithoutCancel(r.Context())
		entry.found, entry.err = t.find(ctx, t.oneStock, id, func(rows *sql.Rows) error {
			return rows.Scan(&entry.row.Amount, &entry.row.ID)
		})
	})
	switch {
	case entry.err != nil:
		t.cache.forget(id)
		t.database.fail(w, r, entry.err)
	case !entry.found:
		http.NotFound(w, r)
	default:
		encode(w, entry.row)
	}
}

// writeRow creates or changes one row.
func (t *tables) writeRow(w http.ResponseWriter, r *http.Request) {
	id, ok := number(r.URL.Query(), "id", 1_000_000_000)
	if !ok {
		http.Error(w, rowID, http.StatusBadRequest)
		return
	}
	var sent struct{ Amount *int }
	err := json.NewDecoder(r.Body).Decode(&sent)
	if err != nil || sent.Amount == nil || *sent.Amount < 0 || *sent.Amount > 999_999_999 {
		http.Error(w, "amount must be 0 to 999999999", http.StatusBadRequest)
		return
	}
	if t.change(w, r, id, t.database.engine.putStock, *sent.Amount, id) {
		encode(w, stock{*sent.Amount, id})
	}
}

func (t *tables) deleteRow(w http.ResponseWriter, r *http.Request) {
	id, ok := number(r.URL.Query(), "id", 1_000_000_000)
	if !ok {
		http.Error(w, rowID, http.StatusBadRequest)
		return
	}
	if t.change(w, r, id, t.deleteStock, id) {
		w.WriteHeader(http.StatusNoContent)
	}
}

// change reports whether the database made the change. If it failed, that is unknown, so the cache forgets the row in any case.
func (t *tables) change(w http.ResponseWriter, r *http.Request, id int, statement string, parameters ...any) bool {
	defer t.cache.forget(id)
	rows, err := t.database.query(r.Context(), statement, parameters...)
	if err == nil {
		rows.Next() // There is no row, but drivers report errors here.
		err = rows.Err()
		rows.Close()
	}
	if err != nil {
		t.database.fail(w, r, err)
	}
	return err == nil
}
