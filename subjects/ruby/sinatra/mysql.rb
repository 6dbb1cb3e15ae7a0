# A connection to MariaDB or MySQL.

require "mysql2"

class Connection
  Failure = Mysql2::Error
  PUT = "INSERT INTO stock (amount, id) VALUES (%d, %d) ON DUPLICATE KEY UPDATE amount = VALUES(amount)"

  # Without casts, decimals stay strings.
  def initialize
    @client = Mysql2::Client.new(
      host: ENV["DATABASE_HOST"], port: ENV["DATABASE_PORT"].to_i, database: ENV["DATABASE_NAME"],
      username: ENV["DATABASE_USER"], password: ENV["DATABASE_PASSWORD"],
      encoding: "utf8mb4", cast: false, connect_timeout: 2, read_timeout: 3,
    )
  end

  def query(statement) = @client.query(statement).to_a

  def close = @client.close
end
