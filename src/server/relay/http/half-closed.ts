import type { Deadlines } from '../../lib/timer-wheel.ts'
import type { ClientExchange } from './client-exchange.ts'

/**
 * Callers who have ended their side of the connection (FIN) while their answer is due. They may wait for it, as `nc -N` does, or have
 * closed the connection: TCP tells the difference only by the reset that answers the next write. So they are probed twice, and probed
 * again from time to time, and once more before they are charged for a complete answer.
 */

/** A short answer comes before the first probe. */
const firstProbeMs = 500
/** How long a reset may take to arrive: more than one round trip. */
const resetWithinMs = 300
const probeEveryMs = 10_000

/** Probes a caller who is half-closed until the answer ends, to abort the upstream soon after they have left. */
export function probeHalfClosed(call: ClientExchange, deadlines: Deadlines): void {
  let probes = 0
  const probe = () => {
    call.probe()
    probes++
    deadlines.refresh(deadline, probes % 2 === 1 ? resetWithinMs : probeEveryMs)
  }
  const deadline = deadlines.after(firstProbeMs, probe)
  call.response.once('close', () => deadlines.cancel(deadline))
}

/**
 * Whether the caller is still there to get the end of their answer. Of one who is half-closed, `write` is called twice and must send
 * some of the answer, never its end; the second write fails when they have left.
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
