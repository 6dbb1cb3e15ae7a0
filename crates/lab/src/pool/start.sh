# Starts the missing daemons of a tolok pool on this machine. The caller sets FOLDER and DAEMON.
set -e
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
cd "$FOLDER"
runs() {
  pid=$(cat "$1.pid" 2>/dev/null) && tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | grep -qF "$FOLDER/"
}
# munged reports on standard error why it does not start, Slurm's daemons in their logs.
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
