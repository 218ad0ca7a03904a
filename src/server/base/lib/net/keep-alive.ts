import { ConnectionClosed } from './upstream-http/connection.ts'

/** Whether a request failed because the upstream had closed the idle keep-alive connection. Only then is a retry safe. */
export function wasClosedWhileIdle(cause: Error): boolean {
  return cause instanceof ConnectionClosed && cause.isSafeToRepeat
}
