// Command server answers the workloads with chi.
package main

import (
	"bytes"
	_ "embed"
	"html/template"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

//go:embed fortunes.html
var fortunesText string

var fortunesPage = template.Must(template.New("fortunes").Parse(fortunesText))

type message struct {
	Message string `json:"message"`
}

func main() {
	router := chi.NewRouter()
	router.Use(middleware.Recoverer)

	router.Get("/hello", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write([]byte("<h1>Hello, World!</h1>"))
	})
	router.Get("/json", func(w http.ResponseWriter, r *http.Request) {
		send(w)(answer(message{Message: "Hello, World!"}, nil))
	})

	sendItems := func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		send(w)(items(query.Get("n"), query.Get("seed")))
	}
	router.Get("/items", sendItems)
	router.With(middleware.Compress(5)).Get("/compressed", sendItems)
	router.Post("/upload", func(w http.ResponseWriter, r *http.Request) { send(w)(digest(r.Body)) })

	data := openDatabase()
	router.Get("/rows", func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		send(w)(data.rows(r.Context(), query.Get("fields"), query.Get("limit")))
	})
	router.Get("/query", func(w http.ResponseWriter, r *http.Request) {
		send(w)(data.query(r.Context(), r.URL.Query().Get("id")))
	})
	router.Get("/queries", func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		send(w)(data.queries(r.Context(), query.Get("n"), query.Get("seed")))
	})

	router.Get("/fortunes", func(w http.ResponseWriter, r *http.Request) {
		status, rows := data.fortunes(r.Context(), r.URL.Query().Get("add"))
		var page bytes.Buffer
		if rows == nil || fortunesPage.Execute(&page, rows) != nil {
			w.WriteHeader(status)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(page.Bytes())
	})
	router.Post("/updates", func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		send(w)(data.updates(r.Context(), query.Get("n"), query.Get("seed")))
	})
	router.Route("/crud", func(router chi.Router) {
		router.Get("/", func(w http.ResponseWriter, r *http.Request) {
			send(w)(data.readRow(r.Context(), r.URL.Query().Get("id")))
		})
		router.Put("/", func(w http.ResponseWriter, r *http.Request) {
			send(w)(data.writeRow(r.Context(), r.URL.Query().Get("id"), r.Body))
		})
		router.Delete("/", func(w http.ResponseWriter, r *http.Request) {
			send(w)(data.deleteRow(r.Context(), r.URL.Query().Get("id")))
		})
	})

	server := &http.Server{Addr: os.Getenv("ADDRESS"), Handler: router, IdleTimeout: 120 * time.Second}
	log.Fatal(server.ListenAndServe())
}

func send(w http.ResponseWriter) func(int, []byte) {
	return func(status int, body []byte) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		w.Write(body)
	}
}
