# Stops the daemons of a tolok pool on this machine and removes its files. The caller sets FOLDER.
# Found by command line, because a daemon that is just starting has not written its pid file yet.
daemons() {
  for file in $(grep -laF -e "$FOLDER/slurm.conf" -e "$FOLDER/munge.key" /proc/[0-9]*/cmdline 2>/dev/null); do
    process=${file%/cmdline}
    case $(readlink "$process/exe" 2>/dev/null) in
      */slurmd* | */slurmctld* | */munged*) echo "${process#/proc/}" ;;
    esac
  done
}
# The processes that watch jobs: without a controller nobody ends them, and slurmd leaves them alone.
watchers() {
  for file in $(grep -la '^slurmstepd' /proc/[0-9]*/cmdline 2>/dev/null); do
    process=${file%/cmdline}
    case $(readlink "$process/cwd" 2>/dev/null) in
      "$FOLDER"*) echo "${process#/proc/}" ;;
    esac
  done
}
watchers=$(watchers)
tasks=$(for watcher in $watchers; do cat "/proc/$watcher"/task/*/children 2>/dev/null; done)
signal() {
  for task in $tasks; do kill "-$1" "-$task" "$task" 2>/dev/null; done
  for daemon in $(daemons); do kill "-$1" "$daemon" 2>/dev/null; done
}
left() {
  daemons
  for task in $tasks; do kill -0 "$task" 2>/dev/null && echo "$task"; done
}
# A block of tolok ends when its input does, and a watcher holds that open.
[ -z "$watchers" ] || kill -KILL $watchers 2>/dev/null
signal TERM
tries=0
while [ -n "$(left)" ] && [ $tries -lt 50 ]; do
  sleep 0.1
  tries=$((tries + 1))
done
signal KILL
cd / && rm -rf "$FOLDER"
[ ! -e "$FOLDER" ]
