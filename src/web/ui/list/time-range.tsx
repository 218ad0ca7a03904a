import { Button, Group, Popover, Stack, Text } from '@mantine/core'
import { IconCalendar } from '@tabler/icons-react'
import { useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import { formatTime, isTime, nowSeconds, startOfDay, timeZoneName } from '../../lib/times.ts'
import { useLayer } from '../dialog/layers.ts'
import { DateTimeInput } from '../form/date-time-input.tsx'
import { texts } from '../texts.ts'
import styles from './time-range.module.css'

interface TimeSpan {
  /** Unix seconds; 0 is open. */
  readonly from: number
  readonly to: number
}

interface TimeRangeProps extends TimeSpan {
  readonly label: string
  readonly onChange: (span: TimeSpan) => void
}

/** A span of time: a few usual ones, or from and to. */
export function TimeRange({ label, from, to, onChange }: TimeRangeProps) {
  const say = useText(texts)
  const [opened, setOpened] = useState(false)
  const [draft, setDraft] = useState<TimeSpan>({ from, to })
  // Esc closes a calendar that is open over it first.
  const isTopmost = useLayer(opened)

  function toggle(): void {
    setDraft({ from, to })
    setOpened(!opened)
  }

  function choose(span: TimeSpan): void {
    onChange(span)
    setOpened(false)
  }

  function nameOf(span: TimeSpan): string {
    if (span.to === 0) return say('since', { time: shortTime(span.from) })
    if (span.from === 0) return say('until', { time: shortTime(span.to) })
    return `${shortTime(span.from)} – ${shortTime(span.to)}`
  }

  const presets = [
    { name: say('today'), span: { from: startOfDay(), to: 0 } },
    { name: say('lastHour'), span: { from: nowSeconds() - 3600, to: 0 } },
    { name: say('lastDays', { days: 3 }), span: { from: startOfDay(2), to: 0 } },
    { name: say('lastDays', { days: 7 }), span: { from: startOfDay(6), to: 0 } },
    { name: say('lastDays', { days: 30 }), span: { from: startOfDay(29), to: 0 } },
    { name: say('anyTime'), span: { from: 0, to: 0 } },
  ]
  const name = presets.find(({ span }) => span.from === from && span.to === to)?.name ?? nameOf({ from, to })

  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      position="bottom-start"
      shadow="md"
      radius="md"
      trapFocus
      returnFocus
      closeOnEscape={false}
      closeOnClickOutside={false}
    >
      <Popover.Target>
        <Button
          className={styles.field}
          variant="default"
          justify="flex-start"
          fw={400}
          leftSection={<IconCalendar size={16} stroke={1.6} />}
          aria-label={`${label}: ${name}`}
          onClick={toggle}
        >
          {name}
        </Button>
      </Popover.Target>
      <Popover.Dropdown maw="calc(100vw - 1.5rem)" onKeyDown={({ key }) => key === 'Escape' && isTopmost() && setOpened(false)}>
        <Stack gap="sm">
          <Group gap="xs">
            {presets.map(({ name, span }) => (
              <Button key={name} size="compact-sm" variant="default" onClick={() => choose(span)}>
                {name}
              </Button>
            ))}
          </Group>
          <DateTimeInput
            label={say('from')}
            value={draft.from === 0 ? undefined : draft.from}
            onChange={(value) => setDraft({ ...draft, from: value ?? 0 })}
          />
          <DateTimeInput
            label={say('to')}
            value={draft.to === 0 ? undefined : draft.to}
            onChange={(value) => setDraft({ ...draft, to: value ?? 0 })}
          />
          <Group justify="flex-end" gap="xs">
            <Text size="xs" c="dimmed" mr="auto">
              {say('timeZone', { zone: timeZoneName() })}
            </Text>
            <Button size="compact-md" variant="subtle" color="gray" onClick={() => setOpened(false)}>
              {say('cancel')}
            </Button>
            <Button size="compact-md" disabled={!isTime(draft.from) || !isTime(draft.to)} onClick={() => choose(draft)}>
              {say('apply')}
            </Button>
          </Group>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}

/** Whole days without the time of day. */
function shortTime(seconds: number): string {
  const text = formatTime(seconds)
  return text.endsWith('00:00:00') ? text.slice(0, 10) : text.slice(0, 16)
}
