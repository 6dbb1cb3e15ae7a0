# Answers the workloads with Sinatra.

require "digest"
require "erb"
require "json"
require "rack/deflater"
require "sinatra"
require_relative "cache"
require_relative ENV["DATABASE_ENGINE"] == "postgres" ? "postgres" : "mysql"

set :bind, ENV.fetch("HOST")
set :port, ENV.fetch("PORT")
set :server, "puma"
set :server_settings, Silent: true
set :logging, false
set :quiet, true
use Rack::Deflater, if: ->(env, *) { env["PATH_INFO"] == "/compressed" }

# Connections return text. These columns are converted to whole numbers; decimals stay strings.
WHOLE_NUMBERS = %w[
  account_id active deleted depth_mm fragile gift height_cm id manager_id newsletter orders points quantity stock vendor_id
].freeze

STOCK = Cache.new

NAMES = %w[anvil basket candle drum easel funnel goblet hammer].freeze

get "/hello" do
  "<h1>Hello, World!</h1>"
end

get "/json" do
  content_type :json
  { message: "Hello, World!" }.to_json
end

["/items", "/compressed"].each do |path|
  get path do
    content_type :json
    drawn(1_000).map { |x| item(x) }.to_json
  end
end

post "/upload" do
  sent = request.body.read
  content_type :json
  { bytes: sent.bytesize, sha256: Digest::SHA256.hexdigest(sent) }.to_json
end

get "/rows" do
  halt 400 unless %w[40 50].include?(params["fields"])
  content_type :json
  select("SELECT * FROM rows#{params["fields"]}_text ORDER BY id LIMIT #{number("limit", 10_000)}").to_json
end

get "/query" do
  content_type :json
  (row(number("id", 10_000)) || halt(404)).to_json
end

get "/queries" do
  content_type :json
  drawn(500).map { |x| row(1 + x % 10_000) }.to_json
end

get "/fortunes" do
  add = params["add"].to_s
  halt 400 unless add.bytesize.between?(1, 200)
  rows = select("SELECT id, message FROM fortune") << { "id" => 0, "message" => add }
  erb :fortunes, locals: { rows: rows.sort_by { |row| row["message"] } }
end

# Locking rows in the same order prevents deadlocks.
post "/updates" do
  ids = drawn(100).map { |x| 1 + x % 10_000 }.uniq.sort
  content_type :json
  add_to_all(ids).to_json
end

get "/crud" do
  id = number("id", 1_000_000_000)
  row = STOCK.row(id) { stock(id) }
  content_type :json
  (row || halt(404)).to_json
end

put "/crud" do
  id, amount = number("id", 1_000_000_000), sent_amount
  STOCK.change(id) { database.query(format(Connection::PUT, amount, id)) }
  content_type :json
  { amount: amount, id: id }.to_json
end

delete "/crud" do
  id = number("id", 1_000_000_000)
  STOCK.change(id) { database.query("DELETE FROM stock WHERE id = #{id}") }
  204
end

error Connection::Failure do
  Thread.current[:database]&.close
  Thread.current[:database] = nil
  halt 503
end

helpers do
  include ERB::Util

  # Each of Puma's threads has its own connection.
  def database = Thread.current[:database] ||= Connection.new

  def select(statement)
    rows = database.query(statement)
    rows.each { |row| WHOLE_NUMBERS.each { |name| row[name] = row[name].to_i if row[name] } }
  end

  def row(id) = select("SELECT * FROM rows40_text WHERE id = #{id}").first

  def stock(id)
    row = database.query("SELECT amount, id FROM stock WHERE id = #{id}").first
    row&.transform_values(&:to_i)
  end

  def sent_amount
    sent = JSON.parse(request.body.read)
    amount = sent["amount"] if sent.is_a?(Hash)
    halt 400 unless amount.is_a?(Integer) && amount.between?(0, 999_999_999)
    amount
  rescue JSON::ParserError
    halt 400
  end

  # Adds 1 to amounts, in one transaction.
  def add_to_all(ids)
    database.query("START TRANSACTION")
    changed = ids.map do |id|
      amount = select("SELECT amount FROM stock WHERE id = #{id} FOR UPDATE").first["amount"].to_i + 1
      database.query("UPDATE stock SET amount = #{amount} WHERE id = #{id}")
      { amount: amount, id: id }
    end
    database.query("COMMIT")
    changed
  end

  # Numbers derived from a seed.
  def drawn(most)
    count, x = number("n", most), number("seed", 2_147_483_646)
    Array.new(count) { x = x * 16_807 % 2_147_483_647 }
  end

  def item(x)
    price_cents, quantity = 1 + x % 10_000, 1 + x % 9
    {
      id: x, name: NAMES[x % 8], price_cents: price_cents, quantity: quantity, in_stock: x % 3 == 0,
      rating: { stars: 1 + x % 5, votes: x % 1_000 }, total_cents: price_cents * quantity,
    }
  end

  def number(name, largest)
    value = Integer(params[name].to_s, 10, exception: false)
    halt 400 unless value&.between?(1, largest)
    value
  end
end
