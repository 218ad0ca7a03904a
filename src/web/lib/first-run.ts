import { useQuery } from '@tanstack/react-query'
import type { FirstRun } from '../../contract/entities/system.ts'
import { read } from './query.ts'
import { storedFlag } from './stored.ts'

/** Whether the guide is hidden in this browser. */
export const guideHidden = storedFlag('first-run-hidden', false)

/** The progress of a new installation, while the guide is shown. Admins only. */
export function useFirstRun({ enabled = true }: { enabled?: boolean } = {}): FirstRun | undefined {
  const isHidden = guideHidden.use()
  const { data } = useQuery({ ...read('GET /api/system/first_run'), enabled: enabled && !isHidden })
  return isHidden ? undefined : data
}
