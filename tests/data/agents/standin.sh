#!/bin/sh
# Stands in for an agent: linked under the name of one, it notes its words and its stdin beside the link,
# and then does what is written there.
noted=$0.log
{
    printf '\036'
    for word in "$@"; do printf '%s\037' "$word"; done
    printf '\035'
    cat
} >>"$noted"
. "$0.does"
