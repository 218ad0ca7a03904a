import '@mantine/dates/styles.layer.css'
import 'dayjs/locale/zh-cn'
import { DatesProvider, DateTimePicker } from '@mantine/dates'
import { formatTime, parseTime } from '../lib/format.ts'
import { useLanguage } from '../lib/i18n.ts'
import type { DateTimeInputProps } from './date-time-input.tsx'

/** The calendar itself; loaded when first needed. */
export default function LazyDateTimePicker({ value, onChange, ...rest }: DateTimeInputProps) {
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
