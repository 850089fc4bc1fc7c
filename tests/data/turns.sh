#!/bin/sh
# The agent of the tests: reads its prompt on stdin and does what the file agent-mode of the home says.
# Each run leaves a line in agent-log: the line of the prompt that a test looks for. Each run of a loop
# leaves one in agent-runs: the life of the serve that started it, the session, and which run it is.
# While it runs it holds the pipe agent-alive open, where there is one.
[ -p "$HERMES_HOME/agent-alive" ] && exec 9<>"$HERMES_HOME/agent-alive"
prompt=$(cat)
mode=$(cat "$HERMES_HOME/agent-mode" 2>/dev/null || echo answer)
printf '%s\n' "$prompt" | grep '^ask:' | tail -n 1 >>"$HERMES_HOME/agent-log"
if [ -n "$HERMES_LIFE" ]; then
	run=$(printf '%s\n' "$prompt" | sed -n 's/^\[loop: run \([0-9]*\),.*/\1/p' | tail -n 1)
	printf '%s %s %s\n' "$HERMES_LIFE" "$HERMES_SESSION_ID" "$run" >>"$HERMES_HOME/agent-runs"
fi
case $mode in
answer) echo "all good" ;;
complete) printf 'nothing is left\nLOOP_COMPLETE\n' ;;
crash) echo "it broke" >&2; exit 3 ;;
flood) head -c 3000000 /dev/zero | tr '\0' x; echo ;;
stall) echo "I begin"; exec sleep 1000 ;;
stubborn) trap '' TERM; echo "I stay"; while :; do sleep 1000; done ;;
declare)
	echo "I begin"
	read -r _ <"$HERMES_HOME/agent-go"
	echo "HERMES_PROGRESS: half of it is done" >&2
	exec sleep 1000
	;;
clan)
	setsid sh -c 'while :; do sleep 1000; done' &
	sleep 1000 &
	echo "I begin"
	exec sleep 1000
	;;
family)
	trap '' TERM
	(while :; do sleep 1000; done) &
	echo "I stay"
	while :; do sleep 1000; done
	;;
env) env | sort ;;
esac
