import type { OptionKey, OptionValues } from '../../contract/options/index.ts'

/** Placeholder type surface; the implementation follows in this file. */
export interface OptionStore {
  /** All options, typed and frozen. Read it anew for each use; never keep it. */
  readonly current: OptionValues
  refresh(): Promise<void>
  save(key: OptionKey, value: string): Promise<void>
}
