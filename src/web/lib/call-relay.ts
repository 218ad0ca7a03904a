import { sitePath } from './base-path.ts'
import { ApiError, callerHeaders } from './call.ts'
import { readErrorText } from './chat-events.ts'
import { saveFile } from './download.ts'
import { defineTexts, textOf } from './i18n.ts'
import { expireSession } from './session.ts'
import { toast } from './toast.ts'

/** Calls a path of the relay that takes the session of the console: a POST with a body, else a GET. Throws `ApiError`. */
export async function callRelay(path: string, body?: object): Promise<Response> {
  const sent = body && { method: 'POST', body: JSON.stringify(body) }
  const headers = { ...callerHeaders(), ...(body ? { 'Content-Type': 'application/json' } : {}) }
  const response = await fetch(sitePath(path), { ...sent, headers, cache: 'no-store' }).catch(() => {
    throw new ApiError(textOf(texts, 'unreachable'), { code: 'unreachable', status: 0 })
  })
  if (response.ok) return response
  const { status, statusText } = response
  if (status === 401) expireSession()
  throw new ApiError(readErrorText(await response.text()) || `${status} ${statusText}`, { code: 'unknown', status })
}

/** Saves what a path of the relay answers as a file. */
export function downloadFromRelay(path: string, name: string): void {
  const save = async () => saveFile(name, await (await callRelay(path)).blob())
  void save().catch(toast.failure)
}

const texts = defineTexts({ unreachable: ['无法连接至服务器', 'Unable to reach the server'] })
