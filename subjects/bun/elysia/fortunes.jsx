import { Html } from "@elysiajs/html";

// Elysia's own page of the workload fortunes; `safe` escapes.
export const page = (rows) =>
  "<!DOCTYPE html>" +
  (
    <html>
      <head>
        <title>Fortunes</title>
      </head>
      <body>
        <table>
          <tr>
            <th>id</th>
            <th>message</th>
          </tr>
          {rows.map(({ id, message }) => (
            <tr>
              <td>{id}</td>
              <td safe>{message}</td>
            </tr>
          ))}
        </table>
      </body>
    </html>
  );
