// Command server answers the workloads with Gin.
package main

import (
	_ "embed"
	"html/template"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/gin-contrib/gzip"
	"github.com/gin-gonic/gin"
)

//go:embed fortunes.html
var fortunesPage string

type message struct {
	Message string `json:"message"`
}

func main() {
	router := gin.New()
	router.Use(gin.Recovery())
	router.SetHTMLTemplate(template.Must(template.New("fortunes").Parse(fortunesPage)))

	router.GET("/hello", func(c *gin.Context) {
		c.Data(http.StatusOK, "text/html; charset=utf-8", []byte("<h1>Hello, World!</h1>"))
	})
	router.GET("/json", func(c *gin.Context) {
		c.JSON(http.StatusOK, message{Message: "Hello, World!"})
	})

	sendItems := func(c *gin.Context) { send(c)(items(c.Query("n"), c.Query("seed"))) }
	router.GET("/items", sendItems)
	router.GET("/compressed", gzip.Gzip(gzip.DefaultCompression), sendItems)
	router.POST("/upload", func(c *gin.Context) { send(c)(digest(c.Request.Body)) })

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

	router.GET("/fortunes", func(c *gin.Context) {
		status, rows := data.fortunes(c.Request.Context(), c.Query("add"))
		if rows == nil {
			c.Status(status)
			return
		}
		c.HTML(status, "fortunes", rows)
	})
	router.POST("/updates", func(c *gin.Context) {
		send(c)(data.updates(c.Request.Context(), c.Query("n"), c.Query("seed")))
	})
	router.GET("/crud", func(c *gin.Context) { send(c)(data.readRow(c.Request.Context(), c.Query("id"))) })
	router.PUT("/crud", func(c *gin.Context) {
		send(c)(data.writeRow(c.Request.Context(), c.Query("id"), c.Request.Body))
	})
	router.DELETE("/crud", func(c *gin.Context) { send(c)(data.deleteRow(c.Request.Context(), c.Query("id"))) })

	server := &http.Server{Addr: os.Getenv("ADDRESS"), Handler: router, IdleTimeout: 120 * time.Second}
	log.Fatal(server.ListenAndServe())
}

func send(c *gin.Context) func(int, []byte) {
	return func(status int, body []byte) { c.Data(status, gin.MIMEJSON, body) }
}
