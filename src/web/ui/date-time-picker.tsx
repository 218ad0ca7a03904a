import '@mantine/dates/styles.layer.css'
import 'dayjs/locale/zh-cn'
import { DatesProvider, DateTimePicker } from '@mantine/dates'
import type { ReactNode } from 'react'
import { formatTime, parseTime } from '../lib/format.ts'
import { useLanguage } from '../lib/i18n.ts'

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
  return (
    <DatesProvider settings={{ locale: language === 'zh' ? 'zh-cn' : 'en', firstDayOfWeek: 1 }}>
      <DateTimePicker
        {...rest}
        withSeconds
        clearable
        valueFormat="YYYY-MM-DD HH:mm:ss"
        value={value === undefined ? null : formatTime(value)}
        onChange={(text) => onChange(text === null ? undefined : parseTime(text))}
        popoverProps={{ withinPortal: true }}
      />
    </DatesProvider>
  )
}
