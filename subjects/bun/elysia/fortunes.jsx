import { Html } from "@elysiajs/html";

// The page of the workload fortunes, in Elysia's own JSX. `safe` escapes.
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
