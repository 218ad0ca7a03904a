import type { Dialect } from './format.ts'
import { type ErrorExtra, isObject, type JsonObject } from './wire-format.ts'

/** The extra members of the object under `error`; undefined when there are none. */
export function readExtra(dialect: Dialect, error: JsonObject): { extra?: ErrorExtra } {
  const { message, type, code, param, status, ...members } = error
  return Object.keys(members).length > 0 ? { extra: { dialect, members } } : {}
}

/** The same members with cleaned texts, without those that name the account, truncated to the size limit of an error. */
export function cleanExtra({ dialect, members }: ErrorExtra, clean: (text: string) => string): ErrorExtra {
  return { dialect, members: cleanMembers(members, clean, 0) }
}

function cleanMembers(members: JsonObject, clean: (text: string) => string, depth: number): JsonObject {
  const kept = Object.entries(members).filter(([key]) => !accounts.has(key))
  return Object.fromEntries(kept.slice(0, entriesMax).map(([key, value]) => [clean(key), cleanValue(value, clean, depth + 1)]))
}

function cleanValue(value: unknown, clean: (text: string) => string, depth: number): unknown {
  if (typeof value === 'string') return clean(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= depthMax) return null
  if (Array.isArray(value)) return value.slice(0, entriesMax).map((entry) => cleanValue(entry, clean, depth + 1))
  return isObject(value) ? cleanMembers(value, clean, depth) : null
}

/** Members that identify the account at the vendor, the call there, or its machine. */
const accounts: ReadonlySet<string> = new Set([
  ...['consumer', 'organization', 'organization_id', 'org_id', 'user_id', 'user', 'account', 'account_id', 'tenant', 'tenant_id'],
  ...['project', 'project_id', 'project_number', 'workspace', 'workspace_id', 'subscription', 'deployment', 'deployment_id'],
  ...['request_id', 'requestId', 'trace_id', 'traceId', 'host', 'hostname', 'server', 'node', 'headers', 'stack', 'stackEntries'],
  ...['traceback', 'resourceName', 'owner', 'debug', 'address', 'ip'],
])
const entriesMax = 50
const depthMax = 8
