// Command server answers the workloads with Fiber.
package main

import (
	"bytes"
	"embed"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/compress"
	"github.com/gofiber/template/html/v2"
)

//go:embed fortunes.html
var views embed.FS

type message struct {
	Message string `json:"message"`
}

func main() {
	app := fiber.New(fiber.Config{
		IdleTimeout: 120 * time.Second,
		Views:       html.NewFileSystem(http.FS(views), ".html"),
	})

	app.Get("/hello", func(c fiber.Ctx) error {
		c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
		return c.SendString("<h1>Hello, World!</h1>")
	})
	app.Get("/json", func(c fiber.Ctx) error {
		return c.JSON(message{Message: "Hello, World!"})
	})

	sendItems := func(c fiber.Ctx) error { return send(c)(items(c.Query("n"), c.Query("seed"))) }
	app.Get("/items", sendItems)
	app.Get("/compressed", compress.New(), sendItems)
	app.Post("/upload", func(c fiber.Ctx) error { return send(c)(digest(bytes.NewReader(c.Body()))) })

	data := openDatabase()
	app.Get("/rows", func(c fiber.Ctx) error {
		return send(c)(data.rows(c.Context(), c.Query("fields"), c.Query("limit")))
	})
	app.Get("/query", func(c fiber.Ctx) error {
		return send(c)(data.query(c.Context(), c.Query("id")))
	})
	app.Get("/queries", func(c fiber.Ctx) error {
		return send(c)(data.queries(c.Context(), c.Query("n"), c.Query("seed")))
	})

	app.Get("/fortunes", func(c fiber.Ctx) error {
		status, rows := data.fortunes(c.Context(), c.Query("add"))
		if rows == nil {
			return c.SendStatus(status)
		}
		return c.Render("fortunes", rows)
	})
	app.Post("/updates", func(c fiber.Ctx) error {
		return send(c)(data.updates(c.Context(), c.Query("n"), c.Query("seed")))
	})
	app.Get("/crud", func(c fiber.Ctx) error { return send(c)(data.readRow(c.Context(), c.Query("id"))) })
	app.Put("/crud", func(c fiber.Ctx) error {
		return send(c)(data.writeRow(c.Context(), c.Query("id"), bytes.NewReader(c.Body())))
	})
	app.Delete("/crud", func(c fiber.Ctx) error { return send(c)(data.deleteRow(c.Context(), c.Query("id"))) })

	log.Fatal(app.Listen(os.Getenv("ADDRESS"), fiber.ListenConfig{
		DisableStartupMessage: true,
		EnablePrefork:         os.Getenv("PREFORK") == "on",
	}))
}

func send(c fiber.Ctx) func(int, []byte) error {
	return func(status int, body []byte) error {
		c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		return c.Status(status).Send(body)
	}
}
