package main

import (
	"context"
	"database/sql"
	"net/http"
	"slices"
)

type stock struct {
	Amount int `json:"amount"`
	ID     int `json:"id"`
}

// updates adds 1 to the amounts of rows derived from the query.
func (t *tables) updates(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	count, countIsGood := number(query, "n", 100)
	x, seedIsGood := number(query, "seed", 2147483646)
	if !countIsGood || !seedIsGood {
		http.Error(w, "n must be 1 to 100, seed 1 to 2147483646", http.StatusBadRequest)
		return
	}
	keys := make([]int, count)
	for i := range keys {
		x = x * 16807 % 2147483647
		keys[i] = 1 + x%10_000
	}
	// Locking rows in the same order prevents deadlocks.
	slices.Sort(keys)
	keys = slices.Compact(keys)
	changed := make([]stock, 0, len(keys))
	err := t.database.transaction(r.Context(), func(ctx context.Context, transaction *sql.Tx) error {
		for _, key := range keys {
			var amount int
			if err := transaction.QueryRowContext(ctx, t.lockStock, key).Scan(&amount); err != nil {
				return err
			}
			amount++
			if _, err := transaction.ExecContext(ctx, t.setStock, amount, key); err != nil {
				return err
			}
			changed = append(changed, stock{amount, key})
		}
		return nil
	})
	if err != nil {
		t.database.fail(w, r, err)
		return
	}
	encode(w, changed)
}
