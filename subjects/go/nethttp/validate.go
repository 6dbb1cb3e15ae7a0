package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	orderNumber = regexp.MustCompile(`^A-[0-9]{6}$`)
	instant     = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`)
	country     = regexp.MustCompile(`^[A-Z]{2}$`)
	sku         = regexp.MustCompile(`^[A-Z]{3}-[0-9]{4}$`)
)

// Pointers distinguish a missing field from one that is zero or empty.
type order struct {
	Order    *string `json:"order"`
	Created  *string `json:"created"`
	Customer struct {
		Name    *string `json:"name"`
		Email   *string `json:"email"`
		Country *string `json:"country"`
	} `json:"customer"`
	Lines      []line `json:"lines"`
	TotalCents *int64 `json:"total_cents"`
}

type line struct {
	SKU        *string  `json:"sku"`
	Title      *string  `json:"title"`
	Quantity   *int64   `json:"quantity"`
	PriceCents *int64   `json:"price_cents"`
	Tags       []string `json:"tags"`
	Note       *string  `json:"note"`
}

type verdict struct {
	Valid      bool  `json:"valid"`
	Lines      int   `json:"lines"`
	TotalCents int64 `json:"total_cents"`
}

type refusal struct {
	Valid bool   `json:"valid"`
	At    string `json:"at"`
}

func validate(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // The client is gone.
	}
	var sent order
	err = json.Unmarshal(body, &sent)
	var wrongType *json.UnmarshalTypeError
	if err != nil && !errors.As(err, &wrongType) {
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	at, total := sent.check()
	if wrongType != nil && at == "" {
		at = wrongType.Field
	}
	if at != "" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnprocessableEntity)
		json.NewEncoder(trimNewline{w}).Encode(refusal{At: at})
		return
	}
	encode(w, verdict{Valid: true, Lines: len(sent.Lines), TotalCents: total})
}

// check returns the first field that breaks a rule, or the sum of all lines.
func (o *order) check() (at string, totalCents int64) {
	switch {
	case !matches(o.Order, orderNumber):
		return "order", 0
	case !matches(o.Created, instant):
		return "created", 0
	case !isText(o.Customer.Name, 1, 80):
		return "customer.name", 0
	case !isText(o.Customer.Email, 3, 120) || !isAddress(*o.Customer.Email):
		return "customer.email", 0
	case !matches(o.Customer.Country, country):
		return "customer.country", 0
	case len(o.Lines) < 1 || len(o.Lines) > 500:
		return "lines", 0
	}
	for i := range o.Lines {
		if field := o.Lines[i].check(); field != "" {
			return fmt.Sprintf("lines[%d].%s", i, field), 0
		}
		totalCents += *o.Lines[i].Quantity * *o.Lines[i].PriceCents
	}
	if o.TotalCents == nil || *o.TotalCents != totalCents {
		return "total_cents", 0
	}
	return "", totalCents
}

func (l *line) check() string {
	switch {
	case !matches(l.SKU, sku):
		return "sku"
	case !isText(l.Title, 1, 120):
		return "title"
	case !isWhole(l.Quantity, 1, 1000):
		return "quantity"
	case !isWhole(l.PriceCents, 0, 100_000_000):
		return "price_cents"
	case l.Tags == nil || len(l.Tags) > 8:
		return "tags"
	case l.Note != nil && !isText(l.Note, 0, 200):
		return "note"
	}
	for i := range l.Tags {
		if !isText(&l.Tags[i], 1, 20) {
			return "tags"
		}
	}
	return ""
}

func matches(text *string, pattern *regexp.Regexp) bool {
	return text != nil && pattern.MatchString(*text)
}

func isText(text *string, least, most int) bool {
	if text == nil {
		return false
	}
	length := utf8.RuneCountInString(*text)
	return least <= length && length <= most
}

func isAddress(text string) bool {
	at := strings.IndexByte(text, '@')
	return at > 0 && at < len(text)-1
}

func isWhole(number *int64, least, most int64) bool {
	return number != nil && least <= *number && *number <= most
}
