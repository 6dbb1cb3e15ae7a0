package main

import (
	"compress/gzip"
	"encoding/json"
	"log"
	"net/http"
	"strings"
	"sync"
)

// Pooled, because a new writer allocates 800 KB for each response.
var gzipWriters = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// compressed answers like items, with compression for clients that accept it.
func compressed(w http.ResponseWriter, r *http.Request) {
	found, ok := queried(r.URL.Query())
	if !ok {
		http.Error(w, "n is 1 to 1000, seed 1 to 2147483646", http.StatusBadRequest)
		return
	}
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		encode(w, found)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Encoding", "gzip")
	writer := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(writer)
	writer.Reset(w)
	if err := json.NewEncoder(trimNewline{writer}).Encode(found); err != nil {
		log.Print(err)
	}
	if err := writer.Close(); err != nil {
		log.Print(err)
	}
}
