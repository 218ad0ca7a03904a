import type { Option } from './define.ts'

export const allOptions = {} as Record<string, Option>
export type OptionKey = string
export type OptionValues = Record<string, unknown>
