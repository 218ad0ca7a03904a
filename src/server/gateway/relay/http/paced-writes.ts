import type { Deadlines } from '../../../base/lib/time/timer-wheel.ts'
import type { ClientExchange } from './client-exchange.ts'

/** Writing what is read from a store, at the pace of the caller. */
interface PaceParts {
  readonly deadlines: Deadlines
  steady(): number
}

const blockedMaxMs = 300_000

/** Writes byte text, and waits until the caller has read it. A caller that has read nothing for minutes is disconnected. */
export async function writePaced({ deadlines, steady }: PaceParts, call: ClientExchange, byteText: string): Promise<void> {
  if (byteText === '' || call.isDisconnected || call.write(byteText, steady())) return
  await untilGone(call, (resolve) => {
    const patience = deadlines.after(blockedMaxMs, () => call.drop())
    call.whenDrained(resolve)
    return () => deadlines.cancel(patience)
  })
}

/** Waits until `start` calls back, or the caller has left; `start` returns the function that cancels the wait. */
export async function untilGone(call: ClientExchange, start: (resolve: () => void) => () => void): Promise<void> {
  let stop = () => {}
  await new Promise<void>((resolve) => {
    stop = start(resolve)
    call.onAborted(() => {
      if (call.isDisconnected) resolve()
    })
  })
  call.onAborted(undefined)
  stop()
}
