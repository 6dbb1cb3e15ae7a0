using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "hono", worker = .hono),
    # The workload upstream calls a service on this machine. By default, workerd reaches only public addresses.
    (name = "beside", network = (allow = ["private"])),
  ],
  # The address comes from the command line.
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "hono")],
);

const hono :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  bindings = [(name = "UPSTREAM", fromEnvironment = "UPSTREAM")],
  globalOutbound = "beside",
  compatibilityDate = "2026-11-01",
);
