package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// connectTimeout limits the connection and the login together.
const connectTimeout = 2 * time.Second

// silenceTimeout limits each single read: a long result may take any time as long as it makes progress.
const silenceTimeout = 3 * time.Second

// errUnreachable ends the wait for a connection when none can be made.
var errUnreachable = errors.New("the database cannot be reached")

// database is the pool, and the state for requests that wait for it.
type database struct {
	engine   engine
	pool     *sql.DB
	size     int
	prepared bool

	mutex       sync.Mutex
	statements  map[string]*sql.Stmt
	reachable   context.Context
	unreachable context.CancelFunc

	lastLogged atomic.Int64
}

// openDatabase creates the pool without connecting.
func openDatabase(prepared bool) (*database, error) {
	engine, err := newEngine(prepared)
	if err != nil {
		return nil, err
	}
	size, _ := strconv.Atoi(os.Getenv("DATABASE_POOL"))
	d := &database{engine: engine, size: size, prepared: prepared, statements: map[string]*sql.Stmt{}}
	d.reachable, d.unreachable = context.WithCancel(context.Background())
	d.pool = sql.OpenDB(watchedConnector{engine.connector, d})
	d.pool.SetMaxOpenConns(size)
	d.pool.SetMaxIdleConns(size)
	return d, nil
}

// watchedConnector also limits the time of a login, and notices when the database cannot be reached.
type watchedConnector struct {
	driver.Connector
	database *database
}

func (c watchedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	limited, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	connection, err := c.Connector.Connect(limited)
	if err != nil && ctx.Err() == nil && !c.database.engine.refused(err) {
		c.database.giveUp()
	}
	return connection, err
}

// giveUp fails all waiting requests: a queue for connections that cannot be made would last until the clients give up.
func (d *database) giveUp() {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.unreachable()
	d.reachable, d.unreachable = context.WithCancel(context.Background())
}

// query waits for a connection as long as the database can be reached, and sends the statement. Closing the rows returns the
// connection to the pool.
func (d *database) query(ctx context.Context, statement string, parameters ...any) (*sql.Rows, error) {
	d.mutex.Lock()
	reachable := d.reachable
	d.mutex.Unlock()
	waiting, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(reachable, func() { cancel(errUnreachable) })
	rows, err := d.askAgain(waiting, statement, parameters)
	// Once the answer has begun, an unreachable database no longer cancels it.
	stop()
	if err != nil {
		cause := context.Cause(waiting)
		cancel(nil)
		if cause != nil {
			return nil, cause
		}
		return nil, err
	}
	return rows, nil
}

// transaction waits for a connection in the same way, and commits unless the function returns an error. It never retries, because
// it changes what it reads.
func (d *database) transaction(ctx context.Context, work func(context.Context, *sql.Tx) error) error {
	d.mutex.Lock()
	reachable := d.reachable
	d.mutex.Unlock()
	waiting, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(reachable, func() { cancel(errUnreachable) })
	defer stop()
	transaction, err := d.pool.BeginTx(waiting, nil)
	if err != nil {
		return err
	}
	if err := work(waiting, transaction); err != nil {
		transaction.Rollback()
		return err
	}
	return transaction.Commit()
}

// askAgain retries on another connection if one turns out to be broken. database/sql checks used connections before it hands them
// out. But it does not check those that it opened for a request that gave up, and that are still unused. Reading twice does no
// harm. A connection that timed out returns the same error; then there is no time for a retry.
func (d *database) askAgain(ctx context.Context, statement string, parameters []any) (*sql.Rows, error) {
	started := time.Now()
	rows, err := d.ask(ctx, statement, parameters)
	for range d.size {
		if err == nil || !d.engine.stale(err) || time.Since(started) >= silenceTimeout {
			break
		}
		rows, err = d.ask(ctx, statement, parameters)
	}
	return rows, err
}

func (d *database) ask(ctx context.Context, statement string, parameters []any) (*sql.Rows, error) {
	if !d.prepared {
		return d.pool.QueryContext(ctx, statement, parameters...)
	}
	prepared, err := d.statement(ctx, statement)
	if err != nil {
		return nil, err
	}
	return prepared.QueryContext(ctx, parameters...)
}

// statement prepares on first use; database/sql prepares it again on each further connection.
func (d *database) statement(ctx context.Context, text string) (*sql.Stmt, error) {
	d.mutex.Lock()
	prepared, ok := d.statements[text]
	d.mutex.Unlock()
	if ok {
		return prepared, nil
	}
	prepared, err := d.pool.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if other, ok := d.statements[text]; ok {
		// Another request was faster.
		defer prepared.Close()
		return other, nil
	}
	d.statements[text] = prepared
	return prepared, nil
}

// fail answers 503. A client that has hung up is not a failure.
func (d *database) fail(w http.ResponseWriter, r *http.Request, err error) {
	d.report(r, err)
	http.Error(w, "the database does not answer", http.StatusServiceUnavailable)
}

// report logs a failure, at most one per second: an outage fails every request.
func (d *database) report(r *http.Request, err error) {
	now, last := time.Now().Unix(), d.lastLogged.Load()
	if r.Context().Err() == nil && now != last && d.lastLogged.CompareAndSwap(last, now) {
		log.Printf("%s: %v", r.URL.Path, err)
	}
}
