import { Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { Settings } from './screens/settings/index.tsx'

// The tabs of the site do without it.
const Personal = lazy(async () => ({ default: (await import('./screens/personal/index.tsx')).Personal }))

/** One address for two screens that users expect in one place: their account, and the settings of the site. */
export function Screen() {
  const personal = (
    <Suspense fallback={<Skeleton height={320} radius="lg" />}>
      <Personal />
    </Suspense>
  )
  return <Settings personal={personal} />
}
