import { ActionIcon, Tooltip } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useText } from '../../lib/i18n.ts'
import { invalidate, type ReadLine } from '../../lib/query.ts'
import { texts } from './texts.ts'

export function RefreshButton({ lines }: { lines: readonly ReadLine[] }) {
  const say = useText(texts)
  const client = useQueryClient()
  return (
    <Tooltip label={say('refresh')}>
      <ActionIcon variant="default" size={36} aria-label={say('refresh')} onClick={() => void invalidate(client, lines)}>
        <IconRefresh size={17} stroke={1.6} />
      </ActionIcon>
    </Tooltip>
  )
}

const everyMs = 10_000

/** The refresh interval of a list: only while a task in it is running. */
export function everyWhileRunning(tasks: readonly { readonly status: string }[]): number | false {
  return tasks.some(({ status }) => status !== 'SUCCESS' && status !== 'FAILURE') && everyMs
}
