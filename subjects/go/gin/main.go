// Command server answers the workloads with Gin.
package main

import (
	"log"
	"net/http"
	"os"
	"time"

	"github.com/gin-gonic/gin"
)

type message struct {
	Message string `json:"message"`
}

func main() {
	router := gin.New()
	router.Use(gin.Recovery())

	router.GET("/hello", func(c *gin.Context) {
		c.Data(http.StatusOK, "text/html; charset=utf-8", []byte("<h1>Hello, World!</h1>"))
	})
	router.GET("/json", func(c *gin.Context) {
		c.JSON(http.StatusOK, message{Message: "Hello, World!"})
	})

	data := openDatabase()
	router.GET("/rows", func(c *gin.Context) {
		send(c)(data.rows(c.Request.Context(), c.Query("fields"), c.Query("limit")))
	})
	router.GET("/query", func(c *gin.Context) {
		send(c)(data.query(c.Request.Context(), c.Query("id")))
	})
	router.GET("/queries", func(c *gin.Context) {
		send(c)(data.queries(c.Request.Context(), c.Query("n"), c.Query("seed")))
	})

	server := &http.Server{Addr: os.Getenv("ADDRESS"), Handler: router, IdleTimeout: 120 * time.Second}
	log.Fatal(server.ListenAndServe())
}

func send(c *gin.Context) func(int, []byte) {
	return func(status int, body []byte) { c.Data(status, gin.MIMEJSON, body) }
}
