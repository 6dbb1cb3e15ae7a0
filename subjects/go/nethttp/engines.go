package main

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// engine holds the differences between the databases and their drivers.
type engine struct {
	connector driver.Connector
	// refused reports whether the server itself answered a login with an error.
	refused func(error) bool
	// stale reports whether a connection was broken before the statement was sent.
	stale func(error) bool
	// statement converts a statement to the driver's notation: PostgreSQL numbers its parameters.
	statement func(string) string
	// textIsBytes tells that the driver returns text as bytes.
	textIsBytes bool
	sleep       string
	// putStock creates a row or changes it.
	putStock string
}

// newEngine chooses the driver without connecting.
func newEngine(prepared bool) (engine, error) {
	switch name := os.Getenv("DATABASE_ENGINE"); name {
	case "", "mysql":
		return newMysql(prepared)
	case "postgres":
		return newPostgres(prepared)
	default:
		return engine{}, fmt.Errorf("DATABASE_ENGINE %q: must be mysql or postgres", name)
	}
}

func newMysql(prepared bool) (engine, error) {
	config := mysql.NewConfig()
	config.Net = "tcp"
	config.Addr = net.JoinHostPort(os.Getenv("DATABASE_HOST"), os.Getenv("DATABASE_PORT"))
	config.DBName = os.Getenv("DATABASE_NAME")
	config.User = os.Getenv("DATABASE_USER")
	config.Passwd = os.Getenv("DATABASE_PASSWORD")
	config.Timeout = connectTimeout
	config.ReadTimeout = silenceTimeout
	// With the text protocol the driver interpolates parameters itself, which avoids preparing each query.
	config.InterpolateParams = !prepared
	// Errors are returned, too, and logged once there.
	config.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(config)
	var refusal *mysql.MySQLError
	return engine{
		connector: connector,
		refused:   func(err error) bool { return errors.As(err, &refusal) },
		stale:     func(err error) bool { return errors.Is(err, mysql.ErrInvalidConn) },
		statement: func(statement string) string { return statement },

		textIsBytes: true,
		sleep:       "SELECT SLEEP(0.2)",
		putStock:    "INSERT INTO stock (amount, id) VALUES (?, ?) ON DUPLICATE KEY UPDATE amount = VALUES(amount)",
	}, err
}

func newPostgres(prepared bool) (engine, error) {
	// Settings of PostgreSQL in the process's environment must not apply, so everything is set here.
	config, err := pgx.ParseConfig("sslmode=prefer")
	if err != nil {
		return engine{}, err
	}
	var port uint16
	if text := os.Getenv("DATABASE_PORT"); text != "" {
		if _, err := fmt.Sscan(text, &port); err != nil {
			return engine{}, err
		}
	}
	config.Host, config.Port = os.Getenv("DATABASE_HOST"), port
	config.Database = os.Getenv("DATABASE_NAME")
	config.User, config.Password = os.Getenv("DATABASE_USER"), os.Getenv("DATABASE_PASSWORD")
	config.TLSConfig, config.Fallbacks = nil, nil
	config.ConnectTimeout = connectTimeout
	dialer := net.Dialer{Timeout: connectTimeout}
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		connection, err := dialer.DialContext(ctx, network, address)
		return impatient{connection}, err
	}
	if !prepared {
		// The driver interpolates parameters itself; by default, it would prepare every statement.
		config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	}
	var refusal *pgconn.PgError
	return engine{
		connector: stdlib.GetConnector(*config),
		refused:   func(err error) bool { return errors.As(err, &refusal) },
		stale:     pgconn.SafeToRetry,
		statement: numbered,
		sleep:     "SELECT 0 FROM pg_sleep(0.2)",
		putStock:  numbered("INSERT INTO stock (amount, id) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET amount = excluded.amount"),
	}, nil
}

// numbered numbers the parameters of a statement.
func numbered(statement string) string {
	pieces := strings.Split(statement, "?")
	for i := range pieces[1:] {
		pieces[i] += fmt.Sprintf("$%d", i+1)
	}
	return strings.Join(pieces, "")
}

// impatient breaks a connection that is silent for too long: pgx can only limit the duration of a whole answer.
type impatient struct{ net.Conn }

func (c impatient) Read(bytes []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(silenceTimeout)); err != nil {
		return 0, err
	}
	return c.Conn.Read(bytes)
}
