package main

import (
	"context"
	"database/sql"
	"net/http"
	"sync"
	"time"
)

type poolState struct {
	Size  int `json:"size"`
	InUse int `json:"in_use"`
	// database/sql counts the waits so far, not the current ones.
	Waiting *int    `json:"waiting"`
	Waits   int64   `json:"waits"`
	WaitS   float64 `json:"wait_s"`
}

func (d *database) state(w http.ResponseWriter, _ *http.Request) {
	stats := d.pool.Stats()
	encode(w, poolState{
		Size:  stats.MaxOpenConnections,
		InUse: stats.InUse,
		Waits: stats.WaitCount,
		WaitS: stats.WaitDuration.Seconds(),
	})
}

type shared struct {
	ElapsedS float64  `json:"elapsed_s"`
	Errors   []string `json:"errors"`
}

// sharedConnection lets two goroutines sleep in the database at the same time, on one connection or on two.
func (d *database) sharedConnection(w http.ResponseWriter, r *http.Request) {
	var sleep func(ctx context.Context) *sql.Row
	statement := d.engine.sleep
	switch r.URL.Query().Get("from") {
	case "one":
		connection, err := d.pool.Conn(r.Context())
		if err != nil {
			d.fail(w, r, err)
			return
		}
		defer connection.Close()
		sleep = func(ctx context.Context) *sql.Row { return connection.QueryRowContext(ctx, statement) }
	case "pool":
		sleep = func(ctx context.Context) *sql.Row { return d.pool.QueryRowContext(ctx, statement) }
	default:
		http.Error(w, "from must be one or pool", http.StatusBadRequest)
		return
	}
	started := time.Now()
	results := [2]error{}
	var tasks sync.WaitGroup
	for i := range results {
		tasks.Add(1)
		go func() {
			defer tasks.Done()
			var slept int
			results[i] = sleep(r.Context()).Scan(&slept)
		}()
	}
	tasks.Wait()
	answer := shared{ElapsedS: time.Since(started).Seconds(), Errors: []string{}}
	for _, err := range results {
		if err != nil {
			answer.Errors = append(answer.Errors, err.Error())
		}
	}
	encode(w, answer)
}
