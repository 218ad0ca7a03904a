import { ActionIcon, CloseButton, Popover, Skeleton, TextInput } from '@mantine/core'
import { IconCalendar } from '@tabler/icons-react'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { defineTexts, useText } from '../../lib/i18n.ts'
import { formatTime, isTime, parseTime } from '../../lib/times.ts'
import { useLayer } from '../dialog/layers.ts'
import { texts } from '../texts.ts'

const Calendar = lazy(async () => ({ default: (await import('./calendar.tsx')).Calendar }))

interface DateTimeInputProps {
  readonly label: string
  /** Unix seconds; undefined when the field is empty, NaN when the text is no time. */
  readonly value: number | undefined
  readonly onChange: (seconds: number | undefined) => void
  readonly placeholder?: string
  readonly description?: ReactNode
  readonly error?: ReactNode
  /** The attribute by which a form finds the field. */
  readonly 'data-path'?: string | undefined
  /** The error for a text that is no time. */
  readonly formatError?: string
}

/** A moment in local time: typed, pasted, or picked from a calendar. */
export function DateTimeInput({ label, value, onChange, error, formatError, ...rest }: DateTimeInputProps) {
  const say = useText(texts)
  const sayTime = useText(timeTexts)
  // The text as typed, while it matches the value.
  const [typed, setTyped] = useState<{ readonly text: string; readonly value: number | undefined; readonly left: boolean }>()
  const own = typed && Object.is(typed.value, value) ? typed : undefined
  const text = own ? own.text : isTime(value) ? formatTime(value) : ''
  const isWrong = own?.left === true && Number.isNaN(own.value)

  function type(next: string): void {
    const read = next.trim() === '' ? undefined : (parseTime(next) ?? Number.NaN)
    setTyped({ text: next, value: read, left: false })
    onChange(read)
  }

  /** On blur the field shows the parsed time, or its error. */
  function leave(): void {
    setTyped(own && Number.isNaN(own.value) ? { ...own, left: true } : undefined)
  }

  return (
    <TextInput
      {...rest}
      label={label}
      value={text}
      error={error || (isWrong && (formatError ?? sayTime('format')))}
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => type(event.currentTarget.value)}
      onBlur={leave}
      rightSectionWidth={text === '' ? 36 : 62}
      rightSection={
        <>
          {text !== '' && <CloseButton size="sm" aria-label={`${say('clear')}: ${label}`} onClick={() => type('')} />}
          <CalendarButton label={label} value={isTime(value) ? value : undefined} onChange={onChange} />
        </>
      }
    />
  )
}

function CalendarButton({ label, value, onChange }: Pick<DateTimeInputProps, 'label' | 'value' | 'onChange'>) {
  const sayTime = useText(timeTexts)
  const [opened, setOpened] = useState(false)
  // Esc closes the calendar alone, and not the dialog around its field.
  useLayer(opened)
  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      position="bottom-end"
      shadow="md"
      radius="md"
      trapFocus
      returnFocus
      withinPortal
    >
      <Popover.Target>
        <ActionIcon size="sm" aria-label={`${sayTime('open')}: ${label}`} onClick={() => setOpened(!opened)}>
          <IconCalendar size={16} stroke={1.6} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown>
        <Suspense fallback={<Skeleton width={252} height={310} />}>
          <Calendar value={value} onChange={onChange} onDone={() => setOpened(false)} />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  )
}

const timeTexts = defineTexts({
  open: ['打开日历', 'Open calendar'],
  format: ['时间格式错误，请按 2026-12-31 23:59:59 的格式填写', 'Invalid time format. Use 2026-12-31 23:59:59.'],
})
