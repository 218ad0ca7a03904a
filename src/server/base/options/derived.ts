import type { OptionValues } from '../../../contract/options/index.ts'
import type { OptionStore } from './core.ts'

/**
 * A reader of something that is derived from the options: computed when it is first read after a change of any option, then cached.
 */
export function derived<Value>(options: Pick<OptionStore, 'current'>, compute: (values: OptionValues) => Value): () => Value {
  let source: OptionValues | undefined
  let value: Value

  return () => {
    if (source !== options.current) {
      value = compute(options.current)
      source = options.current
    }
    return value
  }
}
