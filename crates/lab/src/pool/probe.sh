# Reports facts about this machine, one per line. tolok sets PROGRAMS, PORT, TOLOK and SHARED.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
say() { printf '%s\t%s\n' "$1" "$2"; }
say clock "$(date +%s)"
say uid "$(id -u)"
say user "$(id -un)"
say name "$(uname -n)"
say connection "${SSH_CONNECTION:-}"
for program in $PROGRAMS; do
  command -v "$program" >/dev/null || say lacks "$program"
done
daemon=${PROGRAMS%% *}
say slurm "$("$daemon" -V 2>/dev/null)"
say node "$(slurmd -C 2>/dev/null | head -n 1)"
say cpu "$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)"
# The kernel lists a listening port in hexadecimal digits, with the state 0A.
grep -qi "^ *[0-9]*: [0-9A-F]*:$(printf %04X "$PORT") [0-9A-F:]* 0A " /proc/net/tcp /proc/net/tcp6 2>/dev/null && say taken "$PORT"
say tolok "$("$TOLOK" --version 2>/dev/null)"
IFS='
'
for file in $SHARED; do
  say shared "$(cat "$file" 2>/dev/null)"
done
