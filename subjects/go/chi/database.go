package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/jmoiron/sqlx/reflectx"
)

// database implements the workloads on tables. It returns a status and a body, so that every framework can use it.
type database struct {
	pool       *sqlx.DB
	cache      *rowCache
	statements statements
}

// openDatabase creates the pool without connecting.
func openDatabase() database {
	engine, err := chooseEngine()
	if err != nil {
		log.Fatal(err)
	}
	pool := sqlx.NewDb(sql.OpenDB(engine.connector), engine.driver)
	pool.Mapper = reflectx.NewMapper("json")
	size, _ := strconv.Atoi(os.Getenv("DATABASE_POOL"))
	pool.SetMaxOpenConns(size)
	pool.SetMaxIdleConns(size)
	return database{pool, &rowCache{entries: map[int]*entry{}}, newStatements(pool, engine)}
}

func (d database) rows(ctx context.Context, fields, limit string) (int, []byte) {
	count, ok := number(limit, 10_000)
	switch {
	case ok && fields == "40":
		rows := []row40{}
		return answer(&rows, d.pool.SelectContext(ctx, &rows, d.statements.list40, count))
	case ok && fields == "50":
		rows := []row50{}
		return answer(&rows, d.pool.SelectContext(ctx, &rows, d.statements.list50, count))
	default:
		return http.StatusBadRequest, nil
	}
}

func (d database) query(ctx context.Context, id string) (int, []byte) {
	key, ok := number(id, 10_000)
	if !ok {
		return http.StatusBadRequest, nil
	}
	var row row40
	return answer(&row, d.pool.GetContext(ctx, &row, d.statements.byID, key))
}

func (d database) queries(ctx context.Context, n, seed string) (int, []byte) {
	ids, ok := keys(n, seed, 500)
	if !ok {
		return http.StatusBadRequest, nil
	}
	rows := make([]row40, len(ids))
	for i, id := range ids {
		if err := d.pool.GetContext(ctx, &rows[i], d.statements.byID, id); err != nil {
			return answer(nil, err)
		}
	}
	return answer(rows, nil)
}

// fortunes returns the rows of a page, in order.
func (d database) fortunes(ctx context.Context, add string) (int, []fortune) {
	if add == "" || len(add) > 200 {
		return http.StatusBadRequest, nil
	}
	rows := []fortune{}
	if err := d.pool.SelectContext(ctx, &rows, "SELECT id, message FROM fortune"); err != nil {
		return http.StatusServiceUnavailable, nil
	}
	rows = append(rows, fortune{0, add})
	slices.SortFunc(rows, func(a, b fortune) int { return strings.Compare(a.Message, b.Message) })
	return http.StatusOK, rows
}

func (d database) updates(ctx context.Context, n, seed string) (int, []byte) {
	ids, ok := keys(n, seed, 100)
	if !ok {
		return http.StatusBadRequest, nil
	}
	// Locking rows in the same order prevents deadlocks.
	slices.Sort(ids)
	return answer(d.addToAll(ctx, slices.Compact(ids)))
}

// addToAll adds 1 to amounts, in one transaction.
func (d database) addToAll(ctx context.Context, ids []int) ([]stock, error) {
	transaction, err := d.pool.BeginTxx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer transaction.Rollback()
	changed := make([]stock, len(ids))
	for i, id := range ids {
		var amount int
		if err := transaction.GetContext(ctx, &amount, d.statements.lockStock, id); err != nil {
			return nil, err
		}
		changed[i] = stock{amount + 1, id}
		if _, err := transaction.ExecContext(ctx, d.statements.setStock, amount+1, id); err != nil {
			return nil, err
		}
	}
	return changed, transaction.Commit()
}

// keys are derived from a seed.
func keys(n, seed string, most uint64) ([]int, bool) {
	ids, ok := drawn(n, seed, most)
	for i, x := range ids {
		ids[i] = 1 + x%10_000
	}
	return ids, ok
}

// answer encodes without escaping <, > and &, and without a newline.
func answer(value any, err error) (int, []byte) {
	if errors.Is(err, sql.ErrNoRows) {
		return http.StatusNotFound, nil
	}
	var body bytes.Buffer
	if err == nil {
		encoder := json.NewEncoder(&body)
		encoder.SetEscapeHTML(false)
		err = encoder.Encode(value)
	}
	if err != nil {
		return http.StatusServiceUnavailable, nil
	}
	return http.StatusOK, bytes.TrimSuffix(body.Bytes(), []byte("\n"))
}
