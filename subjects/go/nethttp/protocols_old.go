//go:build !go1.24

package main

import (
	"log"
	"net/http"
)

// speak fails, because it needs http.Protocols.
func speak(_ *http.Server, name string) {
	log.Fatalf("-http %s needs Go 1.24 or newer", name)
}
