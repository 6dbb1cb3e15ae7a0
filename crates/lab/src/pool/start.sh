# Starts what does not run of this machine's part of a pool of tolok's. FOLDER and DAEMON are set before.
set -e
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
cd "$FOLDER"
runs() {
  pid=$(cat "$1.pid" 2>/dev/null) && tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | grep -qF "$FOLDER/"
}
# munged says on standard error why it does not start, and Slurm's daemons in their logs.
runs munged || {
  rm -f munge.socket munge.socket.lock
  munged --socket="$FOLDER/munge.socket" --key-file="$FOLDER/munge.key" --pid-file="$FOLDER/munged.pid" \
    --seed-file="$FOLDER/munged.seed" --log-file="$FOLDER/munged.log" </dev/null >/dev/null 2>start.log || {
    cat start.log >&2
    exit 1
  }
}
runs "$DAEMON" || "$DAEMON" -f "$FOLDER/slurm.conf" </dev/null >/dev/null 2>start.log || {
  tail -n 1 start.log >&2
  exit 1
}
