package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
)

type received struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// upload answers with the length and the SHA-256 of the body.
func upload(w http.ResponseWriter, r *http.Request) {
	hash := sha256.New()
	bytes, err := io.Copy(hash, r.Body)
	if err != nil {
		return // The client is gone.
	}
	encode(w, received{Bytes: bytes, SHA256: hex.EncodeToString(hash.Sum(nil))})
}
