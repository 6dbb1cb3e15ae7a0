package main

import (
	"net/http"
	"net/url"
	"strconv"
)

var names = [8]string{"anvil", "basket", "candle", "drum", "easel", "funnel", "goblet", "hammer"}

type item struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	PriceCents int64  `json:"price_cents"`
	Quantity   int64  `json:"quantity"`
	InStock    bool   `json:"in_stock"`
	Rating     rating `json:"rating"`
	TotalCents int64  `json:"total_cents"`
}

type rating struct {
	Stars int64 `json:"stars"`
	Votes int64 `json:"votes"`
}

// items answers with objects derived from two numbers in the query.
func items(w http.ResponseWriter, r *http.Request) {
	found, ok := queried(r.URL.Query())
	if !ok {
		http.Error(w, "n is 1 to 1000, seed 1 to 2147483646", http.StatusBadRequest)
		return
	}
	encode(w, found)
}

// queried returns the objects for a query, if it is valid.
func queried(query url.Values) ([]item, bool) {
	count, okCount := whole(query, "n", 1000)
	x, okSeed := whole(query, "seed", 2147483646)
	if !okCount || !okSeed {
		return nil, false
	}
	found := make([]item, count)
	for i := range found {
		x = x * 16807 % 2147483647
		found[i] = newItem(x)
	}
	return found, true
}

func newItem(x int64) item {
	price, quantity := 1+x%10000, 1+x%9
	return item{
		ID:         x,
		Name:       names[x%8],
		PriceCents: price,
		Quantity:   quantity,
		InStock:    x%3 == 0,
		Rating:     rating{Stars: 1 + x%5, Votes: x % 1000},
		TotalCents: price * quantity,
	}
}

// whole parses a number from 1 to most in the query.
func whole(query url.Values, name string, most int64) (int64, bool) {
	value, err := strconv.ParseInt(query.Get(name), 10, 64)
	return value, err == nil && 1 <= value && value <= most
}
