# Answers the workloads with Sinatra.

require "json"
require "mysql2"
require "sinatra"

set :bind, ENV.fetch("HOST")
set :port, ENV.fetch("PORT")
set :server, "puma"
set :server_settings, Silent: true
set :logging, false
set :quiet, true

# Without casts a decimal stays the text that it is; whole numbers are made of these columns.
DATABASE = {
  host: ENV["DATABASE_HOST"], port: ENV["DATABASE_PORT"].to_i, database: ENV["DATABASE_NAME"],
  username: ENV["DATABASE_USER"], password: ENV["DATABASE_PASSWORD"],
  encoding: "utf8mb4", cast: false, connect_timeout: 2, read_timeout: 3,
}.freeze
WHOLE_NUMBERS = %w[
  account_id active deleted depth_mm fragile gift height_cm id manager_id newsletter orders points quantity stock vendor_id
].freeze

get "/hello" do
  "<h1>Hello, World!</h1>"
end

get "/json" do
  content_type :json
  { message: "Hello, World!" }.to_json
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
  count, x = number("n", 500), number("seed", 2_147_483_646)
  content_type :json
  Array.new(count) { row(1 + (x = x * 16_807 % 2_147_483_647) % 10_000) }.to_json
end

error Mysql2::Error do
  Thread.current[:database] = nil
  halt 503
end

helpers do
  # Each of Puma's threads has a connection of its own.
  def select(statement)
    client = Thread.current[:database] ||= Mysql2::Client.new(DATABASE)
    client.query(statement).each { |row| WHOLE_NUMBERS.each { |name| row[name] = row[name].to_i if row[name] } }
  end

  def row(id) = select("SELECT * FROM rows40_text WHERE id = #{id}").first

  def number(name, largest)
    value = Integer(params[name].to_s, 10, exception: false)
    halt 400 unless value&.between?(1, largest)
    value
  end
end
