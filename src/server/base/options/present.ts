import { encodeOption } from '../../../contract/options/codec.ts'
import { allOptions, type OptionKey, type OptionValues } from '../../../contract/options/index.ts'

// The keys of the declarations are exactly the option keys.
const keys = Object.keys(allOptions) as OptionKey[]

/** Every option but the secret ones, in string form. */
export function presentOptions(values: OptionValues): { key: string; value: string }[] {
  return keys.filter((key) => !allOptions[key].secret).map((key) => ({ key, value: encodeOption(allOptions[key], values[key]) }))
}

/** The secret options that are set. */
export function presentSecrets(values: OptionValues): Record<string, boolean> {
  return Object.fromEntries(keys.filter((key) => allOptions[key].secret).map((key) => [key, values[key] !== '']))
}
