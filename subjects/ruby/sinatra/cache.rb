# Rows that this process keeps.

class Cache
  MOST = 512

  def initialize
    @lock, @kept, @readings = Mutex.new, {}, {}
  end

  # Keeps a row only if it exists, and if nothing has changed it since the reading began.
  def row(id)
    reading = Object.new
    @lock.synchronize do
      return @kept[id] if @kept.key?(id)

      @readings[id] = reading
    end
    row = yield
    @lock.synchronize { keep(id, row) if row && @readings[id].equal?(reading) }
    row
  ensure
    @lock.synchronize { @readings.delete(id) if @readings[id].equal?(reading) }
  end

  # A failed change may still have been made, so it also forgets the row.
  def change(id)
    yield
  ensure
    @lock.synchronize { [@kept, @readings].each { |rows| rows.delete(id) } }
  end

  private

  def keep(id, row)
    @kept.shift if @kept.size >= MOST
    @kept[id] = row
  end
end
