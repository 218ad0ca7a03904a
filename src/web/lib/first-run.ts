import { useQuery } from '@tanstack/react-query'
import type { FirstRun } from '../../contract/entities/system.ts'
import { read } from './query.ts'
import { storedFlag } from './stored.ts'

/** Whether somebody at this browser wants no guide. */
export const guideHidden = storedFlag('first-run-hidden', false)

/** How far a new installation is, as long as somebody wants to be guided. Admins only. */
export function useFirstRun({ enabled = true }: { enabled?: boolean } = {}): FirstRun | undefined {
  const isHidden = guideHidden.use()
  const { data } = useQuery({ ...read('GET /api/system/first_run'), enabled: enabled && !isHidden })
  return isHidden ? undefined : data
}
