import type { Text } from '../text.ts'
import type { ClientSetup, ClientStep } from './client.ts'

/** Helpers for client settings: the places where they are entered, and strings quoted for their language. */

export const terminal: Text = { zh: '终端', en: 'Terminal' }
/** A place whose name is the same in every language: a file, a path through menus. */
export const named = (name: string): Text => ({ zh: name, en: name })

/** Quotes a text as one word of a POSIX shell. */
export const quoted = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
export const exported = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).map(([name, value]) => `export ${name}=${quoted(value)}`)
/** A JSON string literal is also valid in TOML, YAML, Python and TypeScript; the first two allow no control characters in it. */
export const string = (text: string) =>
  JSON.stringify(text).replace(/\p{Cc}/gu, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`)
export const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`
export const lines = (...all: readonly string[]) => `${all.join('\n')}\n`

export const openAiFields = ({ address, key, model }: ClientSetup) => [
  { label: 'Base URL', value: `${address}/v1` },
  { label: 'API Key', value: key },
  { label: 'Model ID', value: model },
]

export const typescript = (...all: readonly string[]): ClientStep => ({
  place: named('TypeScript'),
  language: 'typescript',
  text: lines(...all),
})
