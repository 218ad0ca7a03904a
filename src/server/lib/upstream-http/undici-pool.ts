import { Pool } from 'undici'
import type { Connector } from '../connect.ts'
import { watchConnection } from '../keep-alive.ts'
import type { NewDispatcher } from './pool.ts'

/**
 * undici in place of the client of this project, for `UPSTREAM_CLIENT=undici`. Loaded only then, because it takes 29 MB by itself.
 */
export const newUndiciPool: NewDispatcher = (origin, { connect, connectionsMax }) => {
  const pool = new Pool(origin, {
    connect: watched(connect),
    connections: connectionsMax,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: 60_000,
    keepAliveMaxTimeout: 60_000,
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  return {
    connect,
    dispatch: (options, handler) => pool.dispatch(options, handler),
    get running() {
      return pool.stats.running
    },
    close: () => pool.close(() => {}),
    destroy: () => pool.destroy(),
  }
}

function watched(connect: Connector): Pool.Options['connect'] {
  return (target, callback) =>
    connect(target, (...[error, socket]) => {
      if (error) return callback(error, null)
      watchConnection(socket)
      callback(null, socket)
    })
}
