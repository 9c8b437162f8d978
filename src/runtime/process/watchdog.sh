# Ends what commands have left when the editor has died, in whatever way: its end of the pipe on stdin closes then.
# Each line adds (`+`) or takes away (`-`) words: `g` and the number of a process group, `p` and the inode of a pipe that
# a command writes to. Any POSIX sh runs it.
trap '' HUP INT QUIT TERM TSTP TTIN TTOU

kept=' '
while read -r sign words; do
  for word in $words; do
    case $sign$kept in
      +*) kept="$kept$word " ;;
      *" $word "*) kept="${kept%%" $word "*} ${kept#*" $word "}" ;;
    esac
  done
done
[ "$kept" = ' ' ] && exit

groups=' ' pipes=
for word in $kept; do
  case $word in
    g*) groups="$groups${word#g} " ;;
    p*) pipes="$pipes -e pipe:.${word#p}]" ;;
  esac
done

has() {
  case $1 in *" $2 "*) ;; *) return 1 ;; esac
}

# The processes that are not dead: `pid:parent:group:session`.
list() {
  if [ -r /proc/self/stat ]; then
    cat /proc/[0-9]*/stat | sed -n 's/^\([0-9]*\) (.*) [^ZXx] \([0-9]*\) \([0-9]*\) \([0-9]*\) .*/\1:\2:\3:\4/p'
  else
    ps -A -o stat= -o pid= -o ppid= -o pgid= |
      sed -n 's/^ *[^Z ][^ ]* *\([0-9]*\) *\([0-9]*\) *\([0-9]*\) *$/\1:\2:\3:0/p'
  fi
}

# Those that hold one of the pipes open for writing, where the system tells.
holders() {
  [ "$pipes" ] || return
  # Without quotes: each pattern is a word.
  ls -ln /proc/[0-9]*/fd | grep -e '^/proc/[0-9]*/fd:$' $pipes | while read -r line; do
    case $line in
      /proc/*) holder=${line#/proc/} holder=${holder%/fd:} ;;
      l?w*) echo "$holder" ;;
    esac
  done
}

# Finds all that is ours: members of the groups, who holds a pipe, and what descends from them.
ours=' '
find_ours() {
  holding=" $(holders | tr '\n' ' ')"
  processes=$(list)
  count=-1
  while [ "$count" -ne "${#ours}" ]; do
    count=${#ours} living=
    for process in $processes; do
      IFS=:
      set -- $process
      unset IFS
      if has "$groups" "$3" || has "$ours" "$2" || has "$ours" "$3" || has "$ours" "$4" || has "$holding" "$1"; then
        has "$ours" "$1" || ours="$ours$1 "
      fi
      has "$ours" "$1" && living="$living $1:$3"
    done
  done
}

# A group gets it at once: none of it can fork meanwhile.
end() {
  signalled=' '
  for process in $living; do
    group=${process#*:}
    if ! has "$groups" "$group"; then
      kill -s "$1" "${process%:*}"
    elif ! has "$signalled" "$group"; then
      signalled="$signalled$group "
      kill -s "$1" -- "-$group"
    fi
  done
}

# Whether one of them may be. Much cheaper than to look for them anew.
is_alive() {
  for process in $living; do
    kill -s 0 "${process%:*}" && return
  done
  return 1
}

find_ours
if [ -z "$processes" ]; then
  # No program here lists them.
  for group in $groups; do
    kill -s KILL -- "-$group"
  done
  exit
fi
end TERM
# A stopped process takes no other signal.
end CONT
for _ in 1 2 3 4 5 6 7 8; do
  is_alive || break
  sleep 0.06
done
# Again and again: what was started meanwhile.
for _ in 1 2 3 4 5; do
  find_ours
  [ "$living" ] || exit 0
  end KILL
  sleep 0.02
done
