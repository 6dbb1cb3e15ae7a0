package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
)

type said struct {
	Key  int64  `json:"key"`
	Said string `json:"said"`
}

// service keeps as many connections as it needs. http.DefaultClient keeps two per host, and opens new ones for other requests.
var service = func() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = 0, 1024
	return &http.Client{Transport: transport}
}()

var wordURL = "http://" + os.Getenv("UPSTREAM") + "/word?key=%d"

// upstream answers with the upstream service's word for a key.
func upstream(w http.ResponseWriter, r *http.Request) {
	key, ok := whole(r.URL.Query(), "key", 2147483646)
	if !ok {
		http.Error(w, "key is 1 to 2147483646", http.StatusBadRequest)
		return
	}
	word, err := wordOf(r, key)
	if err != nil {
		http.Error(w, "the service does not answer", http.StatusBadGateway)
		return
	}
	encode(w, said{Key: key, Said: word})
}

func wordOf(r *http.Request, key int64) (string, error) {
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, fmt.Sprintf(wordURL, key), nil)
	if err != nil {
		return "", err
	}
	response, err := service.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var answer struct {
		Word string `json:"word"`
	}
	err = json.NewDecoder(response.Body).Decode(&answer)
	return answer.Word, err
}
