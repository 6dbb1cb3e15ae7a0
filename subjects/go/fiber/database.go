package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
	"github.com/jmoiron/sqlx/reflectx"
)

// database answers what asks the tables: with a status and a body, so that every framework can use it.
type database struct{ pool *sqlx.DB }

const (
	byID   = "SELECT * FROM rows40_text WHERE id = ?"
	list40 = "SELECT * FROM rows40_text ORDER BY id LIMIT ?"
	list50 = "SELECT * FROM rows50_text ORDER BY id LIMIT ?"
)

// openDatabase makes the pool and connects to nothing yet.
func openDatabase() database {
	config := mysql.NewConfig()
	config.Net = "tcp"
	config.Addr = net.JoinHostPort(os.Getenv("DATABASE_HOST"), os.Getenv("DATABASE_PORT"))
	config.DBName = os.Getenv("DATABASE_NAME")
	config.User = os.Getenv("DATABASE_USER")
	config.Passwd = os.Getenv("DATABASE_PASSWORD")
	config.Timeout, config.ReadTimeout = 2*time.Second, 3*time.Second
	config.InterpolateParams = true
	config.Logger = &mysql.NopLogger{} // What goes wrong is returned as well.
	connector, err := mysql.NewConnector(config)
	if err != nil {
		log.Fatal(err)
	}
	pool := sqlx.NewDb(sql.OpenDB(connector), "mysql")
	pool.Mapper = reflectx.NewMapper("json")
	size, _ := strconv.Atoi(os.Getenv("DATABASE_POOL"))
	pool.SetMaxOpenConns(size)
	pool.SetMaxIdleConns(size)
	return database{pool}
}

func (d database) rows(ctx context.Context, fields, limit string) (int, []byte) {
	count, ok := number(limit, 10_000)
	switch {
	case ok && fields == "40":
		rows := []row40{}
		return answer(&rows, d.pool.SelectContext(ctx, &rows, list40, count))
	case ok && fields == "50":
		rows := []row50{}
		return answer(&rows, d.pool.SelectContext(ctx, &rows, list50, count))
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
	return answer(&row, d.pool.GetContext(ctx, &row, byID, key))
}

func (d database) queries(ctx context.Context, n, seed string) (int, []byte) {
	count, countIsGood := number(n, 500)
	x, seedIsGood := number(seed, 2147483646)
	if !countIsGood || !seedIsGood {
		return http.StatusBadRequest, nil
	}
	rows := make([]row40, count)
	for i := range rows {
		x = x * 16807 % 2147483647
		if err := d.pool.GetContext(ctx, &rows[i], byID, 1+x%10_000); err != nil {
			return answer(nil, err)
		}
	}
	return answer(rows, nil)
}

// answer encodes <, > and & as they are, and no newline.
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

// number is a parameter of the query string, from 1 to largest.
func number(text string, largest uint64) (int, bool) {
	value, err := strconv.ParseUint(text, 10, 32)
	return int(value), err == nil && 1 <= value && value <= largest
}
