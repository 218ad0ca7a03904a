import { Stack } from '@mantine/core'
import { JobsPanel } from './jobs-panel.tsx'
import { NodesPanel } from './nodes-panel.tsx'
import { SiteCostsPanel } from './site-costs-panel.tsx'
import { StoragePanel } from './storage-panel.tsx'

export function RuntimeTab() {
  return (
    <Stack gap="lg">
      <NodesPanel />
      <SiteCostsPanel />
      <StoragePanel />
      <JobsPanel />
    </Stack>
  )
}
