package main

import (
	"bytes"
	"html/template"
	"log"
	"net/http"
	"slices"
	"strings"
)

type fortune struct {
	ID      int
	Message string
}

var fortunesPage = template.Must(template.New("fortunes").Parse(`<!DOCTYPE html><html><head><title>Fortunes</title></head>` +
	`<body><table><tr><th>id</th><th>message</th></tr>` +
	`{{range .}}<tr><td>{{.ID}}</td><td>{{.Message}}</td></tr>{{end}}</table></body></html>`))

// fortunes answers with a page of the table's rows and one from the request.
func (t *tables) fortunes(w http.ResponseWriter, r *http.Request) {
	add := r.URL.Query().Get("add")
	if add == "" || len(add) > 200 {
		http.Error(w, "add must be 1 to 200 bytes", http.StatusBadRequest)
		return
	}
	rows, err := t.database.query(r.Context(), "SELECT id, message FROM fortune")
	if err != nil {
		t.database.fail(w, r, err)
		return
	}
	defer rows.Close()
	fortunes := []fortune{{0, add}}
	for rows.Next() {
		var row fortune
		if err := rows.Scan(&row.ID, &row.Message); err != nil {
			t.database.fail(w, r, err)
			return
		}
		fortunes = append(fortunes, row)
	}
	if err := rows.Err(); err != nil {
		t.database.fail(w, r, err)
		return
	}
	slices.SortFunc(fortunes, func(a, b fortune) int { return strings.Compare(a.Message, b.Message) })
	var page bytes.Buffer
	if err := fortunesPage.Execute(&page, fortunes); err != nil {
		log.Print(err)
		http.Error(w, "the page cannot be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(page.Bytes())
}
