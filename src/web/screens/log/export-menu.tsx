import { ActionIcon, Menu, Tooltip } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useState } from 'react'
import { saveAnswer } from '../../lib/download.ts'
import { useText } from '../../lib/i18n.ts'
import { formatTime, nowSeconds, timeZoneName } from '../../lib/times.ts'
import { toast } from '../../lib/toast.ts'
import type { useLogQuery } from './filters.ts'
import { texts } from './texts.ts'

const lines = {
  csv: { all: 'GET /api/log/export.csv', own: 'GET /api/log/self/export.csv' },
  jsonl: { all: 'GET /api/log/export.jsonl', own: 'GET /api/log/self/export.jsonl' },
} as const

/** Everything that matches the filters as a file, with the times of this zone. */
export function ExportMenu({ isAdmin, filter }: { isAdmin: boolean; filter: ReturnType<typeof useLogQuery>['filter'] }) {
  const say = useText(texts)
  const [busy, setBusy] = useState(false)

  async function save(format: keyof typeof lines): Promise<void> {
    setBusy(true)
    const name = `log-${formatTime(nowSeconds()).replace(/\D+/g, '-')}.${format}`
    const time_zone = Intl.DateTimeFormat().resolvedOptions().timeZone
    await saveAnswer(lines[format][isAdmin ? 'all' : 'own'], name, { ...filter, time_zone }).catch(toast.failure)
    setBusy(false)
  }

  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Tooltip label={say('export')}>
          <ActionIcon variant="default" size={34} aria-label={say('export')} loading={busy}>
            <IconDownload size={17} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{say('exportHint', { zone: timeZoneName() })}</Menu.Label>
        <Menu.Item onClick={() => void save('csv')}>{say('exportCsv')}</Menu.Item>
        <Menu.Item onClick={() => void save('jsonl')}>{say('exportJsonl')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
