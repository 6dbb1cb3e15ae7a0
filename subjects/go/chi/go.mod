module chi

go 1.25

require (
	github.com/go-chi/chi/v5 v5.5.0
	github.com/go-sql-driver/mysql v1.9.3
	github.com/jmoiron/sqlx v1.4.0
)

require filippo.io/edwards25519 v1.1.0 // indirect
