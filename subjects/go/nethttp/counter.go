package main

import (
	"net/http"
	"sync/atomic"
)

// counter counts in this process, the only one.
type counter struct{ value atomic.Int64 }

func (c *counter) add(w http.ResponseWriter, _ *http.Request) { encode(w, c.value.Add(1)) }

func (c *counter) show(w http.ResponseWriter, _ *http.Request) { encode(w, c.value.Load()) }
