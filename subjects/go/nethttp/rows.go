package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
)

// sink receives the rows of an answer one by one, and writes them.
type sink interface {
	add(rows *sql.Rows) error
	finish() error
	// sent reports whether a part of the body was written, so that the status can no longer change.
	sent() bool
}

// shape defines how the rows of one table become JSON.
type shape struct {
	list func(w io.Writer) sink
	one  func(rows *sql.Rows) (any, error)
}

// scannable is a struct with fields to scan a row into.
type scannable[T any] interface {
	*T
	fields() []any
}

// structs collects the rows in a slice and encodes it at the end.
func structs[T any, P scannable[T]]() shape {
	return shape{
		list: func(w io.Writer) sink { return &collector[T, P]{w: w, rows: []T{}} },
		one:  scan[T, P],
	}
}

// streamed encodes and writes each row as it arrives, and keeps none.
func streamed[T any, P scannable[T]]() shape {
	return shape{
		list: func(w io.Writer) sink {
			row := new(T)
			return &streamer{w: w, encoder: newEncoder(w), row: row, fields: P(row).fields()}
		},
		one: scan[T, P],
	}
}

// maps is like structs without types: every row is a map.
func maps(e engine) shape {
	return shape{
		list: func(w io.Writer) sink { return &mapCollector{w: w, engine: e, rows: []map[string]any{}} },
		one:  func(rows *sql.Rows) (any, error) { return scanMap(e, rows) },
	}
}

func scan[T any, P scannable[T]](rows *sql.Rows) (any, error) {
	row := new(T)
	return row, rows.Scan(P(row).fields()...)
}

type collector[T any, P scannable[T]] struct {
	w    io.Writer
	rows []T
}

func (c *collector[T, P]) add(rows *sql.Rows) error {
	var row T
	c.rows = append(c.rows, row)
	return rows.Scan(P(&c.rows[len(c.rows)-1]).fields()...)
}

func (c *collector[T, P]) finish() error { return newEncoder(c.w).Encode(c.rows) }
func (c *collector[T, P]) sent() bool    { return false }

type mapCollector struct {
	w      io.Writer
	engine engine
	rows   []map[string]any
}

func (c *mapCollector) add(rows *sql.Rows) error {
	row, err := scanMap(c.engine, rows)
	c.rows = append(c.rows, row)
	return err
}

func (c *mapCollector) finish() error { return newEncoder(c.w).Encode(c.rows) }
func (c *mapCollector) sent() bool    { return false }

func scanMap(e engine, rows *sql.Rows) (map[string]any, error) {
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values, pointers := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		pointers[i] = &values[i]
	}
	if err := rows.Scan(pointers...); err != nil {
		return nil, err
	}
	row := make(map[string]any, len(columns))
	for i, column := range columns {
		row[column] = values[i]
		switch value := values[i].(type) {
		case []byte:
			if e.textIsBytes {
				// encoding/json would encode bytes as Base64.
				row[column] = string(value)
			}
		case float64:
			if math.IsNaN(value) || math.IsInf(value, 0) {
				// encoding/json refuses them, because JSON has no such numbers.
				row[column] = strconv.FormatFloat(value, 'g', -1, 64)
			}
		}
	}
	return row, nil
}

type streamer struct {
	w       io.Writer
	encoder *json.Encoder
	row     any
	fields  []any
	begun   bool
}

func (s *streamer) add(rows *sql.Rows) error {
	if err := rows.Scan(s.fields...); err != nil {
		return err
	}
	separator := ","
	if !s.begun {
		separator = "["
	}
	s.begun = true
	if _, err := io.WriteString(s.w, separator); err != nil {
		return err
	}
	return s.encoder.Encode(s.row)
}

func (s *streamer) finish() error {
	end := "]"
	if !s.begun {
		end = "[]"
	}
	_, err := io.WriteString(s.w, end)
	return err
}

func (s *streamer) sent() bool { return s.begun }

// newEncoder encodes without escaping <, > and &, and without a newline.
func newEncoder(w io.Writer) *json.Encoder {
	encoder := json.NewEncoder(trimNewline{w})
	encoder.SetEscapeHTML(false)
	return encoder
}

// tables serves the workloads on tables.
type tables struct {
	database           *database
	row40s, row50s     shape
	all40, all50, byID string
	lockStock          string
	setStock           string
	oneStock           string
	deleteStock        string
	cache              rowCache
}

func newTables(d *database, mode string) (*tables, error) {
	t := &tables{
		database: d,
		all40:    d.engine.statement("SELECT * FROM rows40_text ORDER BY id LIMIT ?"),
		all50:    d.engine.statement("SELECT * FROM rows50_text ORDER BY id LIMIT ?"),
		byID:     d.engine.statement("SELECT * FROM rows40_text WHERE id = ?"),

		lockStock: d.engine.statement("SELECT amount FROM stock WHERE id = ? FOR UPDATE"),
		setStock:  d.engine.statement("UPDATE stock SET amount = ? WHERE id = ?"),

		oneStock:    d.engine.statement("SELECT amount, id FROM stock WHERE id = ?"),
		deleteStock: d.engine.statement("DELETE FROM stock WHERE id = ?"),
		cache:       rowCache{entries: map[int]*entry{}},
	}
	switch mode {
	case "struct":
		t.row40s, t.row50s = structs[row40](), structs[row50]()
	case "map":
		t.row40s, t.row50s = maps(d.engine), maps(d.engine)
	case "stream":
		t.row40s, t.row50s = streamed[row40](), streamed[row50]()
	default:
		return nil, fmt.Errorf("-rows %q: must be struct, map or stream", mode)
	}
	return t, nil
}

func (t *tables) rows(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	limit, ok := number(query, "limit", 10_000)
	fields := query.Get("fields")
	if !ok || fields != "40" && fields != "50" {
		http.Error(w, "fields must be 40 or 50, limit 1 to 10000", http.StatusBadRequest)
		return
	}
	if fields == "50" {
		t.list(w, r, t.row50s, t.all50, limit)
	} else {
		t.list(w, r, t.row40s, t.all40, limit)
	}
}

// fidelity uses no struct, because its types would hide how the driver converts the columns.
func (t *tables) fidelity(w http.ResponseWriter, r *http.Request) {
	t.list(w, r, maps(t.database.engine), "SELECT * FROM fidelity ORDER BY id")
}

func (t *tables) list(w http.ResponseWriter, r *http.Request, shape shape, statement string, parameters ...any) {
	answer := shape.list(w)
	rows, err := t.database.query(r.Context(), statement, parameters...)
	if err != nil {
		t.database.fail(w, r, err)
		return
	}
	defer rows.Close()
	w.Header().Set("Content-Type", "application/json")
	for rows.Next() {
		if err := answer.add(rows); err != nil {
			t.broken(w, r, answer, err)
			return
		}
	}
	if err := rows.Err(); err != nil {
		t.broken(w, r, answer, err)
		return
	}
	// Frees the connection before a slow client has read the whole answer.
	rows.Close()
	if err := answer.finish(); err != nil {
		t.database.report(r, err)
	}
}

func (t *tables) query(w http.ResponseWriter, r *http.Request) {
	id, ok := number(r.URL.Query(), "id", 10_000)
	if !ok {
		http.Error(w, "id must be 1 to 10000", http.StatusBadRequest)
		return
	}
	var row any
	found, err := t.find(r.Context(), t.byID, id, func(rows *sql.Rows) (err error) {
		row, err = t.row40s.one(rows)
		return err
	})
	switch {
	case err != nil:
		t.database.fail(w, r, err)
	case !found:
		http.NotFound(w, r)
	default:
		w.Header().Set("Content-Type", "application/json")
		if err := newEncoder(w).Encode(row); err != nil {
			t.database.report(r, err)
		}
	}
}

func (t *tables) queries(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	count, countIsGood := number(query, "n", 500)
	x, seedIsGood := number(query, "seed", 2147483646)
	if !countIsGood || !seedIsGood {
		http.Error(w, "n must be 1 to 500, seed 1 to 2147483646", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	answer := t.row40s.list(w)
	for range count {
		x = x * 16807 % 2147483647
		found, err := t.find(r.Context(), t.byID, 1+x%10_000, answer.add)
		if err == nil && !found {
			err = fmt.Errorf("there is no row %d", 1+x%10_000)
		}
		if err != nil {
			t.broken(w, r, answer, err)
			return
		}
	}
	if err := answer.finish(); err != nil {
		t.database.report(r, err)
	}
}

// find passes the row with this id to take, if it exists.
func (t *tables) find(ctx context.Context, statement string, id int, take func(*sql.Rows) error) (bool, error) {
	rows, err := t.database.query(ctx, statement, id)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	if !rows.Next() {
		return false, rows.Err()
	}
	if err := take(rows); err != nil {
		return false, err
	}
	return true, rows.Close()
}

// broken answers 503 while that is possible. Otherwise it cuts the connection, so that a partial body does not look complete.
func (t *tables) broken(w http.ResponseWriter, r *http.Request, answer sink, err error) {
	if !answer.sent() {
		t.database.fail(w, r, err)
		return
	}
	t.database.report(r, err)
	// This is how a net/http handler closes its connection; it logs nothing and ends nothing else.
	panic(http.ErrAbortHandler)
}

// number parses a parameter of the query string, from 1 to largest.
func number(query url.Values, name string, largest uint64) (int, bool) {
	value, err := strconv.ParseUint(query.Get(name), 10, 32)
	return int(value), err == nil && 1 <= value && value <= largest
}
