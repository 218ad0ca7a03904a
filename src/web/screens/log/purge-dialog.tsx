import { Button, Group, Progress, Stack, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { LogPurge } from '../../../contract/entities/log.ts'
import { formatCount } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { invalidate, read, useWrite } from '../../lib/query.ts'
import { formatTime, isTime, startOfDay, timeZoneName } from '../../lib/times.ts'
import { toast } from '../../lib/toast.ts'
import { confirm } from '../../ui/dialog/confirm.tsx'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { DateTimeInput } from '../../ui/form/date-time-input.tsx'
import { texts } from './texts.ts'

const everyMs = 1000
const monthDays = 30

/** Asks for the time before which the log is deleted, and shows the progress. The job continues when the dialog is closed. */
export function PurgeDialog({ onClose }: { onClose: () => void }) {
  const say = useText(texts)
  const client = useQueryClient()
  const [before, setBefore] = useState<number | undefined>(startOfDay(monthDays))
  const purge = useQuery({
    ...read('GET /api/log/purge'),
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data?.finished_at === 0 ? everyMs : false),
  })
  const running = purge.data?.finished_at === 0 ? purge.data : undefined
  const invalidates = ['GET /api/log/purge'] as const
  // The purge that this dialog started or has seen running; its result is shown once.
  const [watched, setWatched] = useState<number>()
  const start = useWrite('POST /api/log/purge', {
    invalidates,
    failure: say('purgeFailed'),
    onSuccess: ({ id }) => setWatched(id),
  })
  const stop = useWrite('DELETE /api/log/purge', { invalidates })

  if (running && running.id !== watched) setWatched(running.id)
  const ended = purge.data && purge.data.id === watched && purge.data.finished_at > 0 ? purge.data : undefined
  const endedId = ended?.id
  const endedCount = ended?.removed ?? 0
  useEffect(() => {
    if (endedId === undefined) return
    setWatched(undefined)
    toast.success(say('purged', { count: formatCount(endedCount) }))
    void invalidate(client, ['GET /api/log/', 'GET /api/log/stat'])
  }, [endedId, endedCount, client, say])

  async function ask(): Promise<void> {
    if (!isTime(before)) {
      toast.failure(new Error(say('purgeTimeMissing')))
      return
    }
    const sure = await confirm({
      title: say('purgeSure'),
      object: say('purgeBefore', { time: formatTime(before) }),
      body: say('purgeHint'),
      confirmLabel: say('purge'),
      danger: true,
    })
    if (sure) start.mutate({ body: { before } })
  }

  return (
    <Dialog
      title={say('purgeTitle')}
      size="md"
      onClose={onClose}
      footer={
        running ? (
          <Button variant="default" loading={stop.isPending} onClick={() => stop.mutate({})}>
            {say('purgeStop')}
          </Button>
        ) : (
          <Button color="red" loading={start.isPending || purge.isPending} onClick={() => void ask()}>
            {say('purge')}
          </Button>
        )
      }
    >
      {running ? (
        <Running purge={running} />
      ) : (
        <Stack gap="sm">
          <Text size="sm">{say('purgeHint')}</Text>
          <DateTimeInput label={say('purgeTime', { zone: timeZoneName() })} value={before} onChange={setBefore} />
          {purge.data && <LastRun purge={purge.data} />}
        </Stack>
      )}
    </Dialog>
  )
}

function Running({ purge }: { purge: LogPurge }) {
  const say = useText(texts)
  const percent = Math.round(purge.progress * 100)
  return (
    <Stack gap="xs">
      <Text size="sm">{say('purgeRunning', { time: formatTime(purge.before) })}</Text>
      <Progress.Root size="lg">
        <Progress.Section value={Math.max(2, percent)} animated aria-label={say('purgeTitle')} />
      </Progress.Root>
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          {say('purgeRemoved', { count: formatCount(purge.removed) })}
        </Text>
        <Text size="sm" c="dimmed">
          {percent}%
        </Text>
      </Group>
      <Text size="xs" c="dimmed">
        {say('purgeGoesOn')}
      </Text>
    </Stack>
  )
}

function LastRun({ purge }: { purge: LogPurge }) {
  const say = useText(texts)
  return (
    <Text size="xs" c="dimmed">
      {say('purgeLast', {
        time: formatTime(purge.finished_at),
        by: purge.asked_by,
        count: formatCount(purge.removed),
        before: formatTime(purge.before),
      })}
    </Text>
  )
}
