import '@mantine/dates/styles.layer.css'
import 'dayjs/locale/zh-cn'
import { DatesProvider, DateTimePicker } from '@mantine/dates'
import type { ReactNode } from 'react'
import { useLanguage, useText } from '../lib/i18n.ts'
import { formatTime, parseTime } from '../lib/times.ts'
import { texts } from './texts.ts'

export interface DateTimeInputProps {
  readonly label: string
  /** Unix seconds. */
  readonly value: number | undefined
  readonly onChange: (seconds: number | undefined) => void
  readonly placeholder?: string
  readonly description?: ReactNode
  readonly error?: ReactNode
  readonly disabled?: boolean
}

/** The calendar itself; loaded when first needed. */
export function LocalDateTimePicker({ value, onChange, ...rest }: DateTimeInputProps) {
  const language = useLanguage()
  const say = useText(texts)
  return (
    <DatesProvider settings={{ locale: language === 'zh' ? 'zh-cn' : 'en', firstDayOfWeek: 1 }}>
      <DateTimePicker
        {...rest}
        withSeconds
        clearable
        clearButtonProps={{ 'aria-label': say('clear') }}
        valueFormat="YYYY-MM-DD HH:mm:ss"
        value={value === undefined ? null : formatTime(value)}
        onChange={(text) => onChange(text === null ? undefined : parseTime(text))}
        popoverProps={{ withinPortal: true }}
      />
    </DatesProvider>
  )
}
