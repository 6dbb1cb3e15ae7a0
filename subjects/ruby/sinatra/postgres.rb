# A connection to PostgreSQL.

require "pg"

class Connection
  Failure = PG::Error
  PUT = "INSERT INTO stock (amount, id) VALUES (%d, %d) ON CONFLICT (id) DO UPDATE SET amount = excluded.amount"
  SILENCE_LIMIT_S = 3

  # Without a type map, decimals stay strings.
  def initialize
    @client = PG.connect(
      host: ENV["DATABASE_HOST"], port: ENV["DATABASE_PORT"], dbname: ENV["DATABASE_NAME"],
      user: ENV["DATABASE_USER"], password: ENV["DATABASE_PASSWORD"], connect_timeout: 2,
    )
  end

  # pg has no limit for reading, and would wait for a silent server forever.
  def query(statement)
    @client.send_query(statement)
    raise PG::ConnectionBad, "the database is silent" unless @client.block(SILENCE_LIMIT_S)

    @client.get_last_result.to_a
  end

  def close = @client.close
end
