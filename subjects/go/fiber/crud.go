package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
)

const largestID = 1_000_000_000

// mostKept is the capacity of the cache.
const mostKept = 512

// rowCache caches rows. An entry is added before its row is read. So a change always invalidates it, however long the read takes.
type rowCache struct {
	mutex   sync.Mutex
	entries map[int]*entry
}

// entry is read by the first request; the others wait.
type entry struct {
	once sync.Once
	row  stock
	err  error
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

// readRow answers with one row, from the cache if it is there.
func (d database) readRow(ctx context.Context, id string) (int, []byte) {
	key, ok := number(id, largestID)
	if !ok {
		return http.StatusBadRequest, nil
	}
	entry := d.cache.entry(key)
	entry.once.Do(func() {
		// Other requests may wait for this row, even if the first client has hung up.
		entry.err = d.pool.GetContext(context.WithoutCancel(ctx), &entry.row, d.statements.oneStock, key)
	})
	if entry.err != nil && !errors.Is(entry.err, sql.ErrNoRows) {
		d.cache.forget(key)
	}
	return answer(entry.row, entry.err)
}

// writeRow creates or changes one row.
func (d database) writeRow(ctx context.Context, id string, body io.Reader) (int, []byte) {
	key, ok := number(id, largestID)
	var sent struct{ Amount *int }
	err := json.NewDecoder(body).Decode(&sent)
	if !ok || err != nil || sent.Amount == nil || *sent.Amount < 0 || *sent.Amount > 999_999_999 {
		return http.StatusBadRequest, nil
	}
	return answer(stock{*sent.Amount, key}, d.change(ctx, key, d.statements.putStock, *sent.Amount, key))
}

func (d database) deleteRow(ctx context.Context, id string) (int, []byte) {
	key, ok := number(id, largestID)
	if !ok {
		return http.StatusBadRequest, nil
	}
	if d.change(ctx, key, d.statements.deleteStock, key) != nil {
		return http.StatusServiceUnavailable, nil
	}
	return http.StatusNoContent, nil
}

// change also invalidates the row if it fails, because the database may have made the change.
func (d database) change(ctx context.Context, key int, statement string, parameters ...any) error {
	defer d.cache.forget(key)
	_, err := d.pool.ExecContext(ctx, statement, parameters...)
	return err
}
