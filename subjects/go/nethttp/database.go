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

// connectTimeout holds for the connection and the login together.
const connectTimeout = 2 * time.Second

// silenceTimeout holds for each read of its own: a long result may take as long as it likes, as long as it goes on.
const silenceTimeout = 3 * time.Second

// errUnreachable ends the waiting for a connection when none can be made.
var errUnreachable = errors.New("the database cannot be reached")

// database is the pool and what the requests that wait for it have to know.
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

// openDatabase makes the pool and connects to nothing yet.
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

// watchedConnector gives the login a time limit as well, and tells when the database cannot be reached.
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

// giveUp answers everybody who waits: a queue for connections that cannot be made would last until the clients give up.
func (d *database) giveUp() {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.unreachable()
	d.reachable, d.unreachable = context.WithCancel(context.Background())
}

// query waits for a connection for as long as the database can be reached, and asks. The connection is the pool's again
// when the rows are closed.
func (d *database) query(ctx context.Context, statement string, parameters ...any) (*sql.Rows, error) {
	d.mutex.Lock()
	reachable := d.reachable
	d.mutex.Unlock()
	waiting, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(reachable, func() { cancel(errUnreachable) })
	rows, err := d.askAgain(waiting, statement, parameters)
	// What has begun to answer is not waited for any more.
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

// transaction waits for a connection in the same way, and commits what the function did if that returns no error. It changes what it
// reads, so nothing is asked a second time.
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

// askAgain asks on another connection when one turns out to be broken. database/sql itself looks at used connections
// before it hands them out, but not at those that it opened for a request that had given up, and that nobody has used yet.
// To read twice does no harm. A connection that broke by its silence says the same, and there is no time for another.
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

// statement prepares on first use; database/sql prepares it again on each further connection that it uses.
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

// fail answers 503. A client that has hung up is no failure.
func (d *database) fail(w http.ResponseWriter, r *http.Request, err error) {
	d.report(r, err)
	http.Error(w, "the database does not answer", http.StatusServiceUnavailable)
}

// report logs a failure, at most one a second: an outage fails every request.
func (d *database) report(r *http.Request, err error) {
	now, last := time.Now().Unix(), d.lastLogged.Load()
	if r.Context().Err() == nil && now != last && d.lastLogged.CompareAndSwap(last, now) {
		log.Printf("%s: %v", r.URL.Path, err)
	}
}
