import { plausibleUsage } from '../pricing/plausible.ts'
import type { UsageBound } from '../pricing/usage-bound.ts'
import type { Ending } from './record.ts'

/** The ending with a usage that its request can have; with what was reported where that is more. */
export function plausibleEnding(ending: Ending, bound: UsageBound | undefined): Ending {
  const { usage, isImplausible } = plausibleUsage(ending.usage, bound)
  return isImplausible ? { ...ending, usage, reported: ending.usage } : ending
}
