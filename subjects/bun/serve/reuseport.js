// Starts several server.js processes on one port; the kernel spreads new connections over them (SO_REUSEPORT).
import { join } from "node:path";

const workers = Array.from({ length: Number(process.env.WORKERS) }, () =>
  Bun.spawn([process.execPath, "--no-install", join(import.meta.dir, "server.js")], {
    env: { ...process.env, REUSE_PORT: "1" },
    stdio: ["ignore", "inherit", "inherit"],
  }),
);

const stop = () => workers.forEach((worker) => worker.kill());
process.on("SIGTERM", stop);
process.on("SIGINT", stop);

// A worker that ends takes the others with it. Otherwise the remaining workers would be measured as if all were there.
await Promise.race(workers.map((worker) => worker.exited));
stop();
