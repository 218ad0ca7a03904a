import type { Text } from '../text.ts'
import { decodeOption, encodeOption } from './codec.ts'
import { defaults } from './defaults.ts'
import type { Option, Section } from './define.ts'
import { sections } from './index.ts'

/**
 * Checks the declarations when the server starts: duplicate names, a default that its own schema refuses or that changes on its way
 * through the string form, a text that lacks a language. Throws an error that names the faulty declaration.
 */
export function checkOptions(
  declared: readonly Section[] = sections,
  values: Readonly<Record<string, unknown>> = defaults,
): void {
  const seen = new Set<string>()
  const once = (name: string) => {
    if (seen.has(name)) throw new Error(`${name} is declared twice`)
    seen.add(name)
  }

  for (const { place, options } of declared) {
    once(`section ${place.name}`)
    requireText(`section ${place.name}`, place.label)
    for (const [key, option] of Object.entries(options)) {
      once(`option ${key}`)
      checkOption(key, option, values[key])
    }
  }
}

function checkOption(key: string, option: Option, value: unknown): void {
  const name = `option ${key}`
  requireText(name, option.label)
  for (const text of [option.help, option.unit]) if (text) requireText(name, text)
  for (const choice of option.choices ?? []) requireText(`${name}, choice ${choice.value}`, choice.label)
  if (option.widget === 'select' && !option.choices?.some((choice) => choice.value === value))
    throw new Error(`${name} has a default that is no choice`)
  if ((option.widget === 'secret') !== (option.secret === true))
    throw new Error(`${name} is a secret without the widget of one, or the reverse`)

  if (value === undefined) throw new Error(`${name} has no default`)
  const text = encodeOption(option, value)
  const decoded = decodeOption(option, text)
  if ('reason' in decoded) throw new Error(`${name} has a default that ${decoded.reason.en}`)
  if (encodeOption(option, decoded.value) !== text) throw new Error(`${name} has a default that its schema changes`)
}

function requireText(name: string, text: Text): void {
  if (text.zh.trim() === '' || text.en.trim() === '') throw new Error(`${name} has a text that lacks a language`)
}
