import type { Usage } from '../../../../contract/usage.ts'
import { type JsonObject, textAt } from '../wire-format.ts'
import { readResponseUsage } from './usage.ts'

/** The state of a response that an upstream generates and stores. Source: types of the official SDK 7.51. */
export function isRunning(response: JsonObject): boolean {
  return running.has(textAt(response, 'status'))
}

/** The end state of a response; undefined while it runs. `usage` is undefined when none is reported. */
export function readEnd(response: JsonObject): { readonly state: string; readonly usage: Usage | undefined } | undefined {
  const status = textAt(response, 'status')
  const state = status === 'complete' ? 'completed' : status
  return ended.has(state) ? { state, usage: readResponseUsage(response) } : undefined
}

const running: ReadonlySet<string> = new Set(['queued', 'in_progress'])
const ended: ReadonlySet<string> = new Set(['completed', 'incomplete', 'failed', 'cancelled'])
