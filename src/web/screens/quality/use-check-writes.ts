import type { QualityCheck } from '../../../contract/entities/quality-check.ts'
import { useText } from '../../lib/i18n.ts'
import { type ReadLine, useWrite } from '../../lib/query.ts'
import { texts } from './texts.ts'

/** The queries that a change of a check makes stale. */
export const checkLines = [
  'GET /api/quality_check/',
  'GET /api/quality_check/:id',
  'GET /api/quality_check/:id/results',
] as const satisfies readonly ReadLine[]

/** The refetch interval of lists, which is short while a check is running. */
export function refetchOf(checks: readonly QualityCheck[] | undefined): number {
  return checks?.some(({ is_running: isRunning }) => isRunning) ? 2000 : 30_000
}

export function useRun(name: string) {
  const say = useText(texts)
  return useWrite('POST /api/quality_check/:id/run', { invalidates: checkLines, success: say('runStarted', { name }) })
}
