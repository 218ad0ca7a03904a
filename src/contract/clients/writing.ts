import type { Text } from '../text.ts'
import type { ClientSetup, ClientStep } from './client.ts'

/** Rendering of client settings: places, and texts quoted for their languages. */

export const terminal: Text = { zh: '终端', en: 'Terminal' }
/** A place whose name is the same in every language: a file, a path through menus. */
export const named = (name: string): Text => ({ zh: name, en: name })

/** A word of a POSIX shell. */
export const quoted = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
export const exported = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).map(([name, value]) => `export ${name}=${quoted(value)}`)
/** A string of JSON is one of TOML, YAML, Python and TypeScript too. */
export const string = (text: string) => JSON.stringify(text)
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
