#!/bin/sh
# Arguments that are no command are those of node.
set -e
if [ "${1#-}" != "$1" ] || [ -z "$(command -v "$1")" ]; then set -- node "$@"; fi
exec "$@"
