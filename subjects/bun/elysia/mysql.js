// The connection pool for MariaDB and MySQL. It connects at the first query. Every JavaScript framework has this file.
import mysql from "mysql2/promise";

const { DATABASE_HOST, DATABASE_PORT, DATABASE_NAME, DATABASE_USER, DATABASE_PASSWORD, DATABASE_POOL } = process.env;

const pool = mysql.createPool({
  host: DATABASE_HOST,
  port: Number(DATABASE_PORT),
  database: DATABASE_NAME,
  user: DATABASE_USER,
  password: DATABASE_PASSWORD,
  connectionLimit: Number(DATABASE_POOL),
  connectTimeout: 2_000,
  dateStrings: true,
});

export const put = "INSERT INTO stock (amount, id) VALUES (?, ?) ON DUPLICATE KEY UPDATE amount = VALUES(amount)";

export async function query(sql, ...values) {
  const [rows] = await pool.query(sql, values);
  return rows;
}

// Calls `work` with a function that runs queries in one transaction, and commits.
export async function transaction(work) {
  const connection = await pool.getConnection();
  try {
    await connection.beginTransaction();
    const result = await work(async (sql, ...values) => (await connection.query(sql, values))[0]);
    await connection.commit();
    return result;
  } catch (error) {
    await connection.rollback();
    throw error;
  } finally {
    connection.release();
  }
}
