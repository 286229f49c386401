#!/bin/sh
# Entry point of the image: runs mindinsight as the owner of the summary directory.
#
# The writer makes directories 0700 and files 0600, so that nobody else can read them. Started as root, this takes
# the owner's ids (MINDINSIGHT_RUN_AS=UID:GID names others) and keeps no capability; started with --user, it stays
# who it is. Where the files cannot be read it says what to do.
set -eu

NOBODY=10001

say() { printf 'mindinsight: %s\n' "$*" >&2; }

# What of the summary directory "$@" (a command that takes other ids) cannot read: one path, or nothing.
unreadable() {
    timeout 10 "$@" find "$base" -maxdepth 3 \( ! -readable -o -type d ! -executable \) -print -quit 2>/dev/null || true
}

become() { # UID GID: sets the command that takes these ids
    as="setpriv --reuid $1 --regid $2 --clear-groups --no-new-privs --inh-caps=-all"
    if ! $as true 2>/dev/null; then
        say "cannot become user $1 without the capabilities SETUID and SETGID."
        say "Add them (cap_add: [SETUID, SETGID]), or start as that user: --user $1:$2"
        exit 1
    fi
}

base=${MINDINSIGHT_SUMMARY_BASE_DIR:-/summary}
base=${base%%:*}
case ${base%%=*} in
"$base" | */*) ;;          # a path
*) base=${base#*=} ;;      # NAME=PATH
esac
uid=$(id -u)
gid=$(id -g)
as=env

if [ "$uid" = 0 ]; then
    ids=${MINDINSIGHT_RUN_AS:-$(stat -L -c %u:%g "$base" 2>/dev/null || echo "$NOBODY:$NOBODY")}
    uid=${ids%%:*}
    gid=${ids##*:}
    if [ "$uid" = 0 ] && [ -z "${MINDINSIGHT_RUN_AS:-}" ]; then # root's own files: most often all may read them
        become "$NOBODY" "$NOBODY"
        if [ -z "$(unreadable $as)" ]; then
            uid=$NOBODY gid=$NOBODY
        fi
    fi
    become "$uid" "$gid"
fi

hidden=$(unreadable $as)
if [ -n "$hidden" ]; then
    say "user $uid cannot read $hidden (owner and mode: $(stat -c '%u:%g %a' "$hidden" 2>/dev/null || echo unknown))."
    say "Start without --user to run as the owner of $base, with MINDINSIGHT_RUN_AS=UID:GID as somebody else who"
    say "may read it, or let others read it: chmod -R a+rX DIRECTORY"
    if [ "$hidden" = "$base" ]; then
        exit 1
    fi
fi

if [ -z "${MINDINSIGHT_WORKSPACE:-}" ]; then
    MINDINSIGHT_WORKSPACE=/workspace/mindinsight
    [ "$uid" = "$NOBODY" ] || MINDINSIGHT_WORKSPACE=/workspace/mindinsight-$uid
fi
if ! $as sh -c 'mkdir -p -- "$0" 2>/dev/null && test -w "$0"' "$MINDINSIGHT_WORKSPACE"; then
    say "user $uid cannot write to $MINDINSIGHT_WORKSPACE: notes are lost when the container ends."
    say "Make its volume anew, or give it to the user: chown -R $uid:$gid DIRECTORY"
    MINDINSIGHT_WORKSPACE=/tmp/mindinsight-$uid
fi
export MINDINSIGHT_WORKSPACE HOME="$MINDINSIGHT_WORKSPACE"

exec $as mindinsight "$@"
