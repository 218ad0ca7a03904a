import { parseLine, userOfLink } from '../../contract/route.ts'
import { addressOf } from './address.ts'
import { ApiError, callerHeaders } from './call.ts'
import { payerHeaders } from './payer.ts'
import type { ReadLine } from './query.ts'
import { currentUser } from './session.ts'
import { toast } from './toast.ts'

/** Hands a text to the browser as a file. */
export function saveFile(name: string, content: string | Blob): void {
  const blob = typeof content === 'string' ? new Blob([content], { type: 'text/plain;charset=utf-8' }) : content
  const address = URL.createObjectURL(blob)
  const link = Object.assign(document.createElement('a'), { href: address, download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(address))
}

/**
 * Makes the browser download the file of a route, streamed to the disk. Only on sites over https do browsers send the headers that
 * mark our own links; elsewhere the file is buffered in memory, and so is a file of an organisation, which a header names, and one whose
 * address contains a secret that the browser's download list would keep.
 */
export function download(
  line: ReadLine,
  name: string,
  query: Record<string, unknown> = {},
  { hasSecret = false, params }: { hasSecret?: boolean | undefined; params?: Record<string, unknown> | undefined } = {},
): void {
  const fetched = () => void saveAnswer(line, name, { params, query }).catch(toast.failure)
  if (hasSecret || !window.isSecureContext || Object.keys(payerHeaders(line)).length > 0) {
    fetched()
    return
  }

  const { path } = parseLine(line)
  const frame = document.createElement('iframe')
  frame.hidden = true
  frame.src = addressOf(path, params, { ...query, [userOfLink]: currentUser()?.id })
  // A file never loads in the frame; a loaded document is a refusal, and a second request gets its reason.
  frame.addEventListener('load', () => {
    frame.remove()
    fetched()
  })
  document.body.append(frame)
  setTimeout(() => frame.remove(), frameLifeMs)
}

/** How long the frame is kept: by then the download has long begun, or never will. */
const frameLifeMs = 10 * 60_000

/** Throws `ApiError`. */
async function saveAnswer(line: ReadLine, name: string, asked: Asked): Promise<void> {
  saveFile(name, await (await openFile(line, asked)).blob())
}

interface Asked {
  /** For the placeholders of the path. */
  readonly params?: Record<string, unknown> | undefined
  readonly query: Record<string, unknown>
}

interface Reading {
  /** Ends the reading, with its reason as the error. */
  readonly signal: AbortSignal
  readonly onChunk: (chunk: Uint8Array) => void
}

/** The whole file of a route, read piece by piece, so that the page can tell how far it is. Throws `ApiError`. */
export async function fetchFile(line: ReadLine, query: Record<string, unknown>, { signal, onChunk }: Reading): Promise<Blob> {
  const response = await openFile(line, { query }, signal)
  const parts: Blob[] = []
  let chunks: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  const reader = response.body?.getReader()
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
    if (value) {
      onChunk(value)
      chunks.push(value)
      size += value.length
    }
    if (done || size > partBytes) {
      // Browsers keep large blobs on the disk.
      parts.push(new Blob(chunks))
      chunks = []
      size = 0
    }
    if (done) return new Blob(parts)
  }
}

const partBytes = 16 * 1024 * 1024

/** Throws `ApiError`. */
async function openFile(line: ReadLine, { params, query }: Asked, signal: AbortSignal | null = null): Promise<Response> {
  const { path } = parseLine(line)
  const headers = { ...callerHeaders(), ...payerHeaders(line) }
  const response = await fetch(addressOf(path, params, query), { headers, cache: 'no-store', signal })
  // A refusal is an envelope; a file never is.
  if (response.ok && !response.headers.get('content-type')?.startsWith('application/json')) return response
  const { message = '', code = 'unknown' } = (await response.json().catch(() => ({}))) as { message?: string; code?: string }
  throw new ApiError(message || `${response.status} ${response.statusText}`.trim(), { code, status: response.status })
}
