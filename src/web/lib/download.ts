import { parseLine } from '../../contract/route.ts'
import { addressOf } from './address.ts'
import { ApiError, callerHeaders } from './call.ts'
import type { ReadLine } from './query.ts'

/** Hands a text to the browser as a file. */
export function saveFile(name: string, content: string | Blob): void {
  const blob = typeof content === 'string' ? new Blob([content], { type: 'text/plain;charset=utf-8' }) : content
  const address = URL.createObjectURL(blob)
  const link = Object.assign(document.createElement('a'), { href: address, download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(address))
}

/** Saves what a line answers that sends a file. A link could not say who asks, which the server wants to know. Throws `ApiError`. */
export async function saveAnswer(line: ReadLine, name: string, query: Record<string, unknown> = {}): Promise<void> {
  const { path } = parseLine(line)
  const response = await fetch(addressOf(path, undefined, query), { headers: callerHeaders(), cache: 'no-store' })
  // A refusal is an envelope; a file never is.
  if (response.ok && !response.headers.get('content-type')?.startsWith('application/json'))
    return saveFile(name, await response.blob())
  const { message = '', code = 'unknown' } = (await response.json().catch(() => ({}))) as { message?: string; code?: string }
  throw new ApiError(message || `${response.status} ${response.statusText}`.trim(), { code, status: response.status })
}
