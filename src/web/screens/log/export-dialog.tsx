import { Button, Checkbox, Group, Progress, SegmentedControl, Stack, Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { type LogColumn, logColumnsFor } from '../../../contract/entities/log.ts'
import { units } from '../../../contract/units.ts'
import { fetchFile, saveFile } from '../../lib/download.ts'
import { formatCount } from '../../lib/format.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { inLargerUnits } from '../../lib/measures.ts'
import { storedJson } from '../../lib/stored.ts'
import { timeZone, timeZoneName } from '../../lib/times.ts'
import { toast } from '../../lib/toast.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import type { LogFilter } from './filters.ts'
import styles from './log.module.css'
import { RowCounter } from './row-counter.ts'
import { texts } from './texts.ts'
import type { rowsOf } from './use-histogram.ts'

const lines = {
  csv: { all: 'GET /api/log/export.csv', own: 'GET /api/log/self/export.csv' },
  jsonl: { all: 'GET /api/log/export.jsonl', own: 'GET /api/log/self/export.jsonl' },
} as const
type Format = keyof typeof lines
const formats = Object.keys(lines) as readonly Format[]

const isNames = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((name) => typeof name === 'string')
/** The columns that are left out of the file; new ones are in it. */
const leftOut = storedJson<readonly string[]>('log-export-left-out', [], isNames)

interface Progressed {
  readonly rows: number
  readonly bytes: number
}

interface ExportDialogProps {
  readonly isAdmin: boolean
  readonly filter: LogFilter
  readonly expected: ReturnType<typeof rowsOf>
  readonly onClose: () => void
}

/** Exports all rows that match the filters, with times in this time zone. Closing the dialog cancels. */
export function ExportDialog({ isAdmin, filter, expected, onClose }: ExportDialogProps) {
  const say = useText(texts)
  const [format, setFormat] = useState<Format>('csv')
  const offered = logColumnsFor(isAdmin)
  const without = leftOut.use()
  const columns = offered.filter((name) => !without.includes(name))
  const { running, done, start, cancel } = useExport()

  function save(): void {
    const chosen = format === 'csv' && columns.length < offered.length ? { columns: columns.join(',') } : {}
    void start(format, isAdmin, { ...filter, time_zone: timeZone(), ...chosen })
  }

  return (
    <Dialog
      title={say('exportTitle')}
      onClose={onClose}
      footer={
        running ? (
          <Button variant="default" onClick={cancel}>
            {say('exportCancel')}
          </Button>
        ) : (
          <Button disabled={format === 'csv' && columns.length === 0} onClick={save}>
            {say('export')}
          </Button>
        )
      }
    >
      <Stack gap="sm">
        <Text size="sm">
          {say(expectations[expected.kind], { count: formatCount(expected.count) })} ·{' '}
          {say('exportZone', { zone: timeZoneName() })}
        </Text>
        {running ? (
          <Running {...running} expected={expected} />
        ) : (
          <>
            <SegmentedControl
              aria-label={say('exportFormat')}
              data={formats.map((value) => ({ value, label: say(value === 'csv' ? 'exportCsv' : 'exportJsonl') }))}
              value={format}
              onChange={(value) => setFormat(formats.find((one) => one === value) ?? 'csv')}
            />
            {format === 'csv' && <Columns offered={offered} chosen={columns} />}
            {done && <Done {...done} />}
          </>
        )}
      </Stack>
    </Dialog>
  )
}

const expectations = { exact: 'exportExact', about: 'exportAbout', least: 'exportLeast' } as const

function Columns({ offered, chosen }: { offered: readonly LogColumn[]; chosen: readonly LogColumn[] }) {
  const say = useText(texts)
  const choose = (names: readonly string[]) => leftOut.write(offered.filter((name) => !names.includes(name)))
  return (
    <fieldset className={styles.columns}>
      <Group justify="space-between" component="legend" w="100%">
        <Text size="sm" fw={600}>
          {say('exportColumns', { count: chosen.length, of: offered.length })}
        </Text>
      </Group>
      <Group gap="xs">
        <Button size="compact-sm" variant="default" onClick={() => choose(offered)}>
          {say('exportAllColumns')}
        </Button>
        <Button size="compact-sm" variant="default" onClick={() => choose([])}>
          {say('exportNoColumns')}
        </Button>
      </Group>
      <Checkbox.Group value={[...chosen]} onChange={choose} aria-label={say('exportFields')}>
        <div className={styles.columnGrid}>
          {offered.map((name) => (
            <Checkbox key={name} value={name} label={<code>{name}</code>} />
          ))}
        </div>
      </Checkbox.Group>
    </fieldset>
  )
}

function Running({ rows, bytes, expected }: Progressed & Pick<ExportDialogProps, 'expected'>) {
  const say = useText(texts)
  const size = useSize()
  // The number may be an estimate: the end is the end of the file.
  const percent = expected.kind === 'least' ? undefined : Math.min(99, Math.floor((rows / Math.max(1, expected.count)) * 100))
  return (
    <Stack gap="xs">
      <Progress.Root size="lg">
        <Progress.Section value={percent === undefined ? 100 : Math.max(2, percent)} animated aria-label={say('exportRunning')} />
      </Progress.Root>
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          {say('exportSize', { count: formatCount(rows), size: size(bytes) })}
        </Text>
        {percent !== undefined && (
          <Text size="sm" c="dimmed">
            {percent}%
          </Text>
        )}
      </Group>
    </Stack>
  )
}

function Done({ rows, bytes }: Progressed) {
  const say = useText(texts)
  const size = useSize()
  return (
    <Text size="sm" role="status">
      {say('exportDone', { what: say('exportSize', { count: formatCount(rows), size: size(bytes) }) })}
    </Text>
  )
}

function useSize(): (bytes: number) => string {
  const local = useLocal()
  return (bytes) => inLargerUnits(bytes, units.bytes, local) ?? `${bytes} B`
}

const shownEveryMs = 100

/** One export at a time: how far it is, and what the last one wrote. */
function useExport() {
  const [running, setRunning] = useState<Progressed>()
  const [done, setDone] = useState<Progressed>()
  const control = useRef<AbortController>(undefined)
  useEffect(() => () => control.current?.abort(), [])

  async function start(format: Format, isAdmin: boolean, query: Record<string, unknown>): Promise<void> {
    const mine = new AbortController()
    control.current = mine
    const counter = new RowCounter(format)
    setDone(undefined)
    setRunning({ rows: 0, bytes: 0 })
    let shownAt = 0
    try {
      const file = await fetchFile(lines[format][isAdmin ? 'all' : 'own'], query, {
        signal: mine.signal,
        onChunk: (chunk) => {
          counter.count(chunk)
          if (performance.now() - shownAt < shownEveryMs) return
          shownAt = performance.now()
          setRunning({ rows: counter.rows, bytes: counter.bytes })
        },
      })
      saveFile(`log.${format}`, file)
      setDone({ rows: counter.rows, bytes: counter.bytes })
    } catch (cause) {
      if (!mine.signal.aborted) toast.failure(cause)
    }
    setRunning(undefined)
  }
  return { running, done, start, cancel: () => control.current?.abort() }
}
