//go:build go1.24

package main

import (
	"log"
	"net/http"
)

// speak makes the server speak only one protocol.
func speak(server *http.Server, name string) {
	server.Protocols = new(http.Protocols)
	switch name {
	case "https":
		server.Protocols.SetHTTP1(true)
	case "h2":
		server.Protocols.SetHTTP2(true)
	case "h2c":
		server.Protocols.SetUnencryptedHTTP2(true)
	default:
		log.Fatalf("-http %q: must be http1, https, h2 or h2c", name)
	}
}
