# Lists the daemons of a pool that run on this machine. The caller sets FOLDER.
[ -d "$FOLDER" ] && echo folder
for name in munged slurmd slurmctld; do
  pid=$(cat "$FOLDER/$name.pid" 2>/dev/null) && tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | grep -qF "$FOLDER/" && echo $name
done
exit 0
