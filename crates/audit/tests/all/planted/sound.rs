//! Tables without flaws.

/// What makes a table look odd, its method, its rows.
pub const SOUND: &[[&str; 3]] = &[
    [
        "pipelining, stated",
        "tool=wrk connections=64 streams=16 duration=15s",
        "a throughput_rps=1200000 latency_mean_ms=0.85 latency_p99_ms=2.1 latency_max_ms=14; b throughput_rps=400000 latency_mean_ms=2.55",
    ],
    ["pipelining, unstated", "tool=wrk connections=64 duration=15s", "a throughput_rps=1200000 latency_mean_ms=0.85"],
    [
        "100 streams of HTTP/2, unstated",
        "tool=h2load connections=10",
        "a throughput_rps=90000 latency_mean_ms=11.0 latency_max_ms=60",
    ],
    [
        "users think for a second",
        "tool=k6 loop=closed connections=100 think-time=1s duration=60s",
        "a throughput_rps=90.1 latency_mean_ms=105 latency_p95_ms=180 requests=5412",
    ],
    [
        "users think, and nobody says so",
        "tool=k6 loop=closed connections=100 duration=60s",
        "a throughput_rps=9.0 latency_mean_ms=105 latency_max_ms=180",
    ],
    [
        "a ramp from 0 to 300 users",
        "tool=k6 loop=closed connections=300 think-time=0s ramp=true duration=300s",
        "a throughput_rps=100 latency_mean_ms=1200 latency_p95_ms=2400 latency_max_ms=3000",
    ],
    [
        "a ramp of a closed loop by wrk in steps, of each step its own row",
        "tool=ab ramp=true",
        "a connections=10 throughput_rps=1000 latency_mean_ms=9.8; b connections=100 throughput_rps=1200 latency_mean_ms=40",
    ],
    [
        "means over five runs that differ",
        "tool=wrk connections=100 streams=1 duration=30s repetitions=5",
        "a throughput_rps=5200 latency_mean_ms=21.9",
    ],
    [
        "each of three runs is sound, and their means are not those of a run",
        "tool=wrk connections=100 streams=1 duration=30s repetitions=3",
        "a throughput_rps=[2000,8000,4000] latency_mean_ms=[49.9,12.4,24.9]",
    ],
    [
        "medians over three runs, each column of another run",
        "tool=wrk connections=100 duration=30s repetitions=3",
        "a latency_mean_ms=10 latency_p50_ms=1 latency_p95_ms=10 latency_max_ms=20",
    ],
    [
        "percentiles averaged over repetitions, with the extremes of one",
        "tool=k6 loop=closed connections=50 duration=30s repetitions=3",
        "a latency_p50_ms=[4,5,30] latency_p95_ms=[9,10,80] latency_p99_ms=[12,15,90] latency_mean_ms=[5,6,35]",
    ],
    [
        "two digits of one, four of the other",
        "tool=wrk connections=100 streams=1 duration=30s",
        "a throughput_rps=12k latency_mean_ms=8.6; b throughput_rps=~9800 latency_mean_ms=10.24",
    ],
    [
        "a rate cut off and not rounded",
        "tool=autocannon connections=10 streams=1 duration=10s",
        "a throughput_rps=9999 requests=100k latency_mean_ms=0.99",
    ],
    [
        "wrk times out at 2 s and leaves these out of its maximum",
        "tool=wrk connections=400 duration=30s",
        "a throughput_rps=310 timeouts=219 latency_mean_ms=640 latency_p99_ms=1890 latency_max_ms=1990",
    ],
    [
        "hey gives up after 20 s and prints no times of these",
        "tool=hey connections=50",
        "a throughput_rps=40 requests=2000 failures=12 latency_mean_ms=300 latency_max_ms=19850",
    ],
    [
        "k6 keeps the times of requests that it gave up",
        "tool=k6 loop=closed connections=50 timeout=5s duration=60s",
        "a throughput_rps=30 latency_max_ms=5003 http_fail_rate_percent=1.2",
    ],
    [
        "wrk2 times from the planned instant on",
        "tool=wrk2 connections=100 latency-of=planned duration=60s",
        "a throughput_rps=5000 latency_mean_s=2.1 latency_p99_s=4.4",
    ],
    [
        "an open loop keeps up",
        "tool=vegeta loop=open duration=60s",
        "a offered_rps=1000 throughput_rps=1000.02 latency_mean_ms=2.2; b offered_rps=1000 throughput_rps=811.5 latency_mean_ms=9000",
    ],
    [
        "KiB in one column and kB in another",
        "tool=ab connections=10 keep-alive=true duration=10s",
        "a throughput_rps=1000 body_kb=10 bandwidth_kib_s=9960 transferred_mb=102",
    ],
    [
        "compressed answers",
        "tool=wrk connections=10 duration=10s",
        "a throughput_rps=1000 body_kb=100 bandwidth_mb_s=12.4",
    ],
    [
        "errors are answered fast, and nobody calls them the fastest",
        "tool=hey connections=50",
        "a throughput_rps=900 http_fail_rate_percent=5; b throughput_rps=500 http_fail_rate_percent=0",
    ],
    [
        "most answers are fast and few are slow",
        "tool=wrk connections=100 streams=1 duration=30s",
        "a throughput_rps=20000 latency_min_ms=0.2 latency_p50_ms=0.4 latency_p90_ms=0.9 latency_p99_ms=120 latency_max_ms=900 latency_mean_ms=4.9",
    ],
    [
        "half of the answers come from a cache",
        "tool=wrk connections=100 streams=1 duration=30s",
        "a throughput_rps=16500 latency_min_ms=1 latency_p50_ms=10 latency_p99_ms=11 latency_mean_ms=6.0",
    ],
    [
        "requests of the warm-up among the printed ones",
        "tool=h2load connections=10 duration=30s warmup=5s",
        "a throughput_rps=1000 requests=34980",
    ],
    [
        "k6 waits for the last requests",
        "tool=k6 loop=closed connections=10 duration=30s",
        "a throughput_rps=12 requests=470",
    ],
    [
        "CPU is sampled, and a little more than there is",
        "tool=wrk connections=10 cpu-scope=core subject-cpus=8",
        "a throughput_rps=1000 cpu_percent=812",
    ],
    [
        "eight processes share pages that are counted in each",
        "tool=wrk connections=10 subject-workers=8 subject-memory=512MB",
        "a throughput_rps=1000 memory_peak_mb=700",
    ],
    ["a mean of four counts", "tool=wrk repetitions=4", "a timeouts=12.25"],
    [
        "a connection for each request",
        "tool=ab connections=100 keep-alive=false",
        "a throughput_rps=4000 latency_mean_ms=12 latency_max_ms=90",
    ],
    [
        "50 ms away",
        "tool=wrk connections=100 streams=1 rtt=50ms duration=30s",
        "a throughput_rps=1950 latency_min_ms=50.1 latency_mean_ms=51.2",
    ],
    [
        "the database goes away for ten seconds",
        "tool=k6 loop=closed connections=100 think-time=0s streams=1 duration=60s",
        "a throughput_rps=1667 latency_mean_ms=60 latency_p50_ms=48 latency_p99_ms=61 latency_max_s=10.4",
    ],
    [
        "a small file and a large one",
        "tool=wrk connections=100 duration=30s",
        "a scenario=s work=10kB throughput_rps=9040; a scenario=t work=1MB throughput_rps=951",
    ],
    [
        "a small file and a large one, through the same limit",
        "tool=k6 connections=50 duration=30s",
        "a scenario=s work=1kB throughput_rps=998; a scenario=t work=10kB throughput_rps=1003",
    ],
    [
        "three settings, a summary with rounded digits",
        "tool=wrk connections=100 streams=1 duration=30s",
        "a throughput_rps=19876.3 latency_mean_ms=5.03; b throughput_rps=9950.2 latency_mean_ms=10.05; a table=Summary throughput_rps=~20k; b table=Summary throughput_rps=~10k",
    ],
];
