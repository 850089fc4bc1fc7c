#!/bin/sh
# An agent for tests. What it does is the first word of its arguments, or of MODE; the prompt is on
# stdin, as with a real one.
#
#   answer TEXT      answer with TEXT (default: "ready"), then the number of the turn if COUNT is set
#   echo             answer with the prompt
#   json TEXT        answer as one JSON object with a session
#   fail CODE TEXT   say TEXT on stderr and exit with CODE
#   crash            die of SIGKILL
#   flood BYTES      print so many bytes, then the answer
#   stall            say "stalling" and do nothing until stopped
#   stubborn         the same, and ignore SIGTERM
#   env NAME         answer with the value of a variable
#
# COUNT, where it is set, names a file that counts the turns.
set -u
mode=${1:-${MODE:-answer}}
[ "$#" -gt 0 ] && shift
if [ -n "${COUNT:-}" ]; then
    turns=$(($(cat "$COUNT" 2>/dev/null || echo 0) + 1))
    echo "$turns" >"$COUNT"
fi
case $mode in
answer)
    cat >/dev/null
    echo "${1:-ready}${turns:+ $turns}"
    ;;
echo) cat ;;
json)
    cat >/dev/null
    printf '{"result":"%s","session_id":"s-1","is_error":false}\n' "${1:-ready}"
    ;;
fail)
    echo "${2:-it went wrong}" >&2
    exit "${1:-1}"
    ;;
crash) kill -KILL $$ ;;
flood)
    cat >/dev/null
    head -c "${1:-1000000}" /dev/zero | tr '\0' 'x'
    echo
    echo done
    ;;
stall)
    echo stalling
    exec sleep 600
    ;;
stubborn)
    trap '' TERM
    echo stalling
    while :; do sleep 600; done
    ;;
env) eval "echo \"\${$1:-}\"" ;;
*)
    echo "no such mode: $mode" >&2
    exit 64
    ;;
esac
