// Command server is a plain net/http server for the workloads of the benchmark.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"time"
)

type message struct {
	Message string `json:"message"`
}

func main() {
	host := flag.String("host", "127.0.0.1", "address to listen on")
	port := flag.Int("port", 8080, "port to listen on")
	assets := flag.String("assets", ".", "folder that holds file-534k.png and the folder static")
	jsonMode := flag.String("json", "encoder", "how /json is produced: encoder or prerendered")
	rowsMode := flag.String("rows", "struct", "how rows become JSON: struct, map or stream")
	protocol := flag.String("protocol", "text", "how queries are sent: text or prepared")
	speaks := flag.String("http", "http1", "what is spoken: http1, https, h2 or h2c")
	certificate := flag.String("certificate", "", "file of the certificate, for https and h2")
	key := flag.String("key", "", "file of its key")
	flag.Parse()

	// A pattern with a method makes ServeMux answer other methods with 405 and an Allow header. GET includes HEAD.
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello", hello)
	mux.HandleFunc("GET /json", jsonHandler(*jsonMode))
	mux.HandleFunc("GET /quicksort", quicksort)
	mux.HandleFunc("POST /validate", validate)
	mux.HandleFunc("GET /items", items)
	mux.HandleFunc("GET /compressed", compressed)
	mux.HandleFunc("POST /upload", upload)
	mux.HandleFunc("GET /upstream", upstream)
	picture := filepath.Join(*assets, "file-534k.png")
	mux.HandleFunc("GET /file-534k.png", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, picture)
	})
	files := http.FileServer(http.Dir(filepath.Join(*assets, "static")))
	mux.Handle("GET /static/", http.StripPrefix("/static/", files))
	serveData(mux, *rowsMode, *protocol)

	server := &http.Server{
		Addr:              net.JoinHostPort(*host, strconv.Itoa(*port)),
		Handler:           mux,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       120 * time.Second,
	}
	if *speaks != "http1" {
		speak(server, *speaks)
	}
	if *certificate != "" {
		log.Fatal(server.ListenAndServeTLS(*certificate, *key))
	}
	log.Fatal(server.ListenAndServe())
}

// serveData adds the workloads that use a database; the pool connects at the first query.
func serveData(mux *http.ServeMux, rowsMode, protocol string) {
	if protocol != "text" && protocol != "prepared" {
		log.Fatalf("-protocol %q: must be text or prepared", protocol)
	}
	database, err := openDatabase(protocol == "prepared")
	if err != nil {
		log.Fatal(err)
	}
	tables, err := newTables(database, rowsMode)
	if err != nil {
		log.Fatal(err)
	}
	mux.HandleFunc("GET /rows", tables.rows)
	mux.HandleFunc("GET /query", tables.query)
	mux.HandleFunc("GET /queries", tables.queries)
	mux.HandleFunc("GET /fortunes", tables.fortunes)
	mux.HandleFunc("POST /updates", tables.updates)
	mux.HandleFunc("GET /crud", tables.readRow)
	mux.HandleFunc("PUT /crud", tables.writeRow)
	mux.HandleFunc("DELETE /crud", tables.deleteRow)
	mux.HandleFunc("GET /fidelity", tables.fidelity)
	mux.HandleFunc("GET /pool", database.state)
	mux.HandleFunc("GET /shared-connection", database.sharedConnection)
	counter := new(counter)
	mux.HandleFunc("GET /counter", counter.show)
	mux.HandleFunc("POST /counter", counter.add)
}

func hello(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, "<h1>Hello, World!</h1>")
}

func jsonHandler(mode string) http.HandlerFunc {
	switch mode {
	case "encoder":
		return func(w http.ResponseWriter, _ *http.Request) {
			encode(w, message{Message: "Hello, World!"})
		}
	case "prerendered":
		body := []byte(`{"message":"Hello, World!"}`)
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Write(body)
		}
	default:
		log.Fatalf("-json %q: must be encoder or prerendered", mode)
		return nil
	}
}

func quicksort(w http.ResponseWriter, _ *http.Request) {
	encode(w, quickSort(numbers))
}

func encode(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(trimNewline{w}).Encode(value); err != nil {
		log.Print(err)
	}
}

// trimNewline drops the newline that Encoder.Encode adds, because the bodies of the contract have none. Encode writes the whole
// value in one Write, so a newline at the end of a Write is that newline.
type trimNewline struct{ w io.Writer }

func (t trimNewline) Write(p []byte) (int, error) {
	if _, err := t.w.Write(bytes.TrimSuffix(p, []byte("\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}
