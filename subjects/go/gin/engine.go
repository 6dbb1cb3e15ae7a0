package main

import (
	"database/sql/driver"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"
)

// engine holds the differences between the databases.
type engine struct {
	driver    string
	connector driver.Connector
	// putStock creates a row or changes it.
	putStock string
}

func chooseEngine() (engine, error) {
	if os.Getenv("DATABASE_ENGINE") == "postgres" {
		return newPostgres()
	}
	return newMysql()
}

func newMysql() (engine, error) {
	config := mysql.NewConfig()
	config.Net = "tcp"
	config.Addr = net.JoinHostPort(os.Getenv("DATABASE_HOST"), os.Getenv("DATABASE_PORT"))
	config.DBName = os.Getenv("DATABASE_NAME")
	config.User = os.Getenv("DATABASE_USER")
	config.Passwd = os.Getenv("DATABASE_PASSWORD")
	config.Timeout, config.ReadTimeout = 2*time.Second, 3*time.Second
	config.InterpolateParams = true
	config.Logger = &mysql.NopLogger{} // Errors are returned, too.
	connector, err := mysql.NewConnector(config)
	put := "INSERT INTO stock (amount, id) VALUES (?, ?) ON DUPLICATE KEY UPDATE amount = VALUES(amount)"
	return engine{"mysql", connector, put}, err
}

func newPostgres() (engine, error) {
	config, err := pgx.ParseConfig("sslmode=disable")
	if err != nil {
		return engine{}, err
	}
	// Without a database there is no port, and nothing connects.
	port, _ := strconv.ParseUint(os.Getenv("DATABASE_PORT"), 10, 16)
	config.Host, config.Port = os.Getenv("DATABASE_HOST"), uint16(port)
	config.Database = os.Getenv("DATABASE_NAME")
	config.User, config.Password = os.Getenv("DATABASE_USER"), os.Getenv("DATABASE_PASSWORD")
	config.ConnectTimeout = 2 * time.Second
	// The driver interpolates parameters itself, like the MySQL driver.
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	put := "INSERT INTO stock (amount, id) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET amount = excluded.amount"
	return engine{"pgx", stdlib.GetConnector(*config), put}, nil
}

// statements use the driver's notation for parameters.
type statements struct {
	byID, list40, list50            string
	lockStock, setStock             string
	oneStock, putStock, deleteStock string
}

func newStatements(pool *sqlx.DB, engine engine) statements {
	return statements{
		byID:        pool.Rebind("SELECT * FROM rows40_text WHERE id = ?"),
		list40:      pool.Rebind("SELECT * FROM rows40_text ORDER BY id LIMIT ?"),
		list50:      pool.Rebind("SELECT * FROM rows50_text ORDER BY id LIMIT ?"),
		lockStock:   pool.Rebind("SELECT amount FROM stock WHERE id = ? FOR UPDATE"),
		setStock:    pool.Rebind("UPDATE stock SET amount = ? WHERE id = ?"),
		oneStock:    pool.Rebind("SELECT amount, id FROM stock WHERE id = ?"),
		putStock:    pool.Rebind(engine.putStock),
		deleteStock: pool.Rebind("DELETE FROM stock WHERE id = ?"),
	}
}
