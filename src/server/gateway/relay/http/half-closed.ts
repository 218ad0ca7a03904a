import type { Deadlines } from '../../../base/lib/time/timer-wheel.ts'
import type { ClientExchange } from './client-exchange.ts'

/**
 * Clients that close their writing side (FIN) before the response. They may still read, as `nc -N` does, or may have closed the
 * connection: TCP shows the difference only by the reset that answers the next write. Such a client is probed twice, then
 * periodically, and once more before it is charged for a complete answer.
 */

/** Most short answers are complete before the first probe. */
const firstProbeMs = 500
/** How long a reset may take to arrive: more than one round trip. */
const resetWithinMs = 300
const probeEveryMs = 10_000

/** Probes a half-closed client until the answer ends, so that the upstream is aborted soon after the client disconnects. */
export function probeHalfClosed(call: ClientExchange, deadlines: Deadlines): void {
  let probes = 0
  const probe = () => {
    if (call.isOver) return
    call.probe()
    probes++
    deadlines.refresh(deadline, probes % 2 === 1 ? resetWithinMs : probeEveryMs)
  }
  const deadline = deadlines.after(firstProbeMs, probe)
}

/**
 * Whether the client is still connected to receive the end of its answer. For a half-closed client `write` is called twice; it must send
 * a part of the answer, never its end. The second write fails when the client has disconnected.
 */
export function isReading(call: ClientExchange, deadlines: Deadlines, write: () => void): boolean | Promise<boolean> {
  if (call.isDisconnected || !call.isHalfClosed || call.outlivesCaller) return !call.isDisconnected
  return answersWrites(call, deadlines, write)
}

async function answersWrites(call: ClientExchange, deadlines: Deadlines, write: () => void): Promise<boolean> {
  write()
  await new Promise<void>((resolve) => deadlines.after(resetWithinMs, resolve))
  if (call.isDisconnected) return false
  write()
  // A write that failed closes the connection at the end of this turn of the event loop.
  await turnOfLoop()
  await turnOfLoop()
  return !call.isDisconnected
}

function turnOfLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
