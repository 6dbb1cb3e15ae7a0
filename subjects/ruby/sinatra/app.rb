# Answers the workloads with Sinatra.

require "digest"
require "erb"
require "json"
require "mysql2"
require "rack/deflater"
require "sinatra"

set :bind, ENV.fetch("HOST")
set :port, ENV.fetch("PORT")
set :server, "puma"
set :server_settings, Silent: true
set :logging, false
set :quiet, true
use Rack::Deflater, if: ->(env, *) { env["PATH_INFO"] == "/compressed" }

# Without casts, decimals stay strings. The columns below are converted to whole numbers.
DATABASE = {
  host: ENV["DATABASE_HOST"], port: ENV["DATABASE_PORT"].to_i, database: ENV["DATABASE_NAME"],
  username: ENV["DATABASE_USER"], password: ENV["DATABASE_PASSWORD"],
  encoding: "utf8mb4", cast: false, connect_timeout: 2, read_timeout: 3,
}.freeze
WHOLE_NUMBERS = %w[
  account_id active deleted depth_mm fragile gift height_cm id manager_id newsletter orders points quantity stock vendor_id
].freeze

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

error Mysql2::Error do
  Thread.current[:database]&.close
  Thread.current[:database] = nil
  halt 503
end

helpers do
  include ERB::Util

  # Each of Puma's threads has its own connection.
  def database = Thread.current[:database] ||= Mysql2::Client.new(DATABASE)

  def select(statement)
    rows = database.query(statement).to_a
    rows.each { |row| WHOLE_NUMBERS.each { |name| row[name] = row[name].to_i if row[name] } }
  end

  def row(id) = select("SELECT * FROM rows40_text WHERE id = #{id}").first

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
