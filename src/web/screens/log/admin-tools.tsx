import { ActionIcon, Tooltip } from '@mantine/core'
import { IconEraser, IconRadar2 } from '@tabler/icons-react'
import { type ComponentType, lazy, type ReactNode, Suspense, useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import { useMay } from '../../lib/session.ts'
import { texts } from './texts.ts'

const RulesDialog = lazy(async () => ({ default: (await import('./recording/rules-dialog.tsx')).RulesDialog }))
const PurgeDialog = lazy(async () => ({ default: (await import('./purge-dialog.tsx')).PurgeDialog }))

/** The tools of admins for the log as a whole. */
export function AdminTools() {
  const say = useText(texts)
  const isRoot = useMay('root')
  return (
    <>
      {isRoot && (
        <Tool label={say('recordings')} opens={RulesDialog}>
          <IconRadar2 size={17} stroke={1.6} />
        </Tool>
      )}
      <Tool label={say('purge')} opens={PurgeDialog}>
        <IconEraser size={17} stroke={1.6} />
      </Tool>
    </>
  )
}

interface ToolProps {
  readonly label: string
  readonly opens: ComponentType<{ onClose: () => void }>
  readonly children: ReactNode
}

function Tool({ label, opens: Opened, children }: ToolProps) {
  const [opened, setOpened] = useState(false)
  return (
    <>
      <Tooltip label={label}>
        <ActionIcon variant="default" size={36} aria-label={label} onClick={() => setOpened(true)}>
          {children}
        </ActionIcon>
      </Tooltip>
      {opened && (
        <Suspense>
          <Opened onClose={() => setOpened(false)} />
        </Suspense>
      )}
    </>
  )
}
