package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strconv"
)

var names = [8]string{"anvil", "basket", "candle", "drum", "easel", "funnel", "goblet", "hammer"}

type item struct {
	ID         int    `json:"id"`
	Name       string `json:"name"`
	PriceCents int    `json:"price_cents"`
	Quantity   int    `json:"quantity"`
	InStock    bool   `json:"in_stock"`
	Rating     rating `json:"rating"`
	TotalCents int    `json:"total_cents"`
}

type rating struct {
	Stars int `json:"stars"`
	Votes int `json:"votes"`
}

type received struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// items answers with objects derived from a seed.
func items(n, seed string) (int, []byte) {
	numbers, ok := drawn(n, seed, 1_000)
	if !ok {
		return http.StatusBadRequest, nil
	}
	found := make([]item, len(numbers))
	for i, x := range numbers {
		price, quantity := 1+x%10_000, 1+x%9
		found[i] = item{
			ID:         x,
			Name:       names[x%8],
			PriceCents: price,
			Quantity:   quantity,
			InStock:    x%3 == 0,
			Rating:     rating{Stars: 1 + x%5, Votes: x % 1_000},
			TotalCents: price * quantity,
		}
	}
	return answer(found, nil)
}

// digest answers with the length and the SHA-256 of the body.
func digest(sent io.Reader) (int, []byte) {
	hash := sha256.New()
	bytes, err := io.Copy(hash, sent)
	return answer(received{Bytes: bytes, SHA256: hex.EncodeToString(hash.Sum(nil))}, err)
}

// drawn returns n numbers derived from a seed.
func drawn(n, seed string, most uint64) ([]int, bool) {
	count, countIsGood := number(n, most)
	x, seedIsGood := number(seed, 2147483646)
	if !countIsGood || !seedIsGood {
		return nil, false
	}
	numbers := make([]int, count)
	for i := range numbers {
		x = x * 16807 % 2147483647
		numbers[i] = x
	}
	return numbers, true
}

// number parses a parameter of the query string, from 1 to largest.
func number(text string, largest uint64) (int, bool) {
	value, err := strconv.ParseUint(text, 10, 32)
	return int(value), err == nil && 1 <= value && value <= largest
}
