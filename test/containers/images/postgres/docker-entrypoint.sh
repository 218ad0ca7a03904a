#!/bin/sh
# Becomes the user postgres, makes the cluster once, and starts what it was asked for.
set -eu
if [ "$(id -u)" = 0 ]; then
  chown postgres:postgres "$PGDATA"
  chmod 700 "$PGDATA"
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  printf '%s\n' "$POSTGRES_PASSWORD" >/tmp/password
  initdb --username="$POSTGRES_USER" --pwfile=/tmp/password --locale=C.UTF-8 --auth-host=scram-sha-256 --auth-local=trust >/dev/null
  rm /tmp/password
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  pg_ctl --wait --options='-c listen_addresses=' start >/dev/null
  createdb --username="$POSTGRES_USER" --maintenance-db=postgres "$POSTGRES_DB"
  pg_ctl --wait --mode=fast stop >/dev/null
fi
exec "$@" -c 'listen_addresses=*'
