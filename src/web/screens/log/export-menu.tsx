import { ActionIcon, Menu, Tooltip } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { download } from '../../lib/download.ts'
import { useText } from '../../lib/i18n.ts'
import { timeZone, timeZoneName } from '../../lib/times.ts'
import type { LogFilter } from './filters.ts'
import { texts } from './texts.ts'

const lines = {
  csv: { all: 'GET /api/log/export.csv', own: 'GET /api/log/self/export.csv' },
  jsonl: { all: 'GET /api/log/export.jsonl', own: 'GET /api/log/self/export.jsonl' },
} as const

/** Exports all rows that match the filters, with times in this time zone. */
export function ExportMenu({ isAdmin, filter }: { isAdmin: boolean; filter: LogFilter }) {
  const say = useText(texts)

  function save(format: keyof typeof lines): void {
    download(lines[format][isAdmin ? 'all' : 'own'], `log.${format}`, { ...filter, time_zone: timeZone() })
  }

  return (
    <Menu position="bottom-end">
      <Tooltip label={say('export')}>
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={say('export')}>
            <IconDownload size={17} stroke={1.6} />
          </ActionIcon>
        </Menu.Target>
      </Tooltip>
      <Menu.Dropdown>
        <Menu.Label>{say('exportHint', { zone: timeZoneName() })}</Menu.Label>
        <Menu.Item onClick={() => save('csv')}>{say('exportCsv')}</Menu.Item>
        <Menu.Item onClick={() => save('jsonl')}>{say('exportJsonl')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
