import '@mantine/dates/styles.layer.css'
import 'dayjs/locale/zh-cn'
import { DatesProvider, DateTimePicker } from '@mantine/dates'
import { type ReactNode, useId } from 'react'
import { defineTexts, useLanguage, useText } from '../lib/i18n.ts'
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
  const sayDate = useText(dateTexts)
  const id = useId()
  return (
    <DatesProvider settings={{ locale: language === 'zh' ? 'zh-cn' : 'en', firstDayOfWeek: 1 }}>
      <DateTimePicker
        {...rest}
        id={id}
        withSeconds
        hideOutsideDates
        ariaLabels={{
          previousMonth: sayDate('previousMonth'),
          nextMonth: sayDate('nextMonth'),
          previousYear: sayDate('previousYear'),
          nextYear: sayDate('nextYear'),
          previousDecade: sayDate('previousDecade'),
          nextDecade: sayDate('nextDecade'),
        }}
        timePickerProps={{
          hoursInputLabel: sayDate('hours'),
          minutesInputLabel: sayDate('minutes'),
          secondsInputLabel: sayDate('seconds'),
        }}
        submitButtonProps={{ 'aria-label': say('confirm') }}
        clearable
        clearButtonProps={{ 'aria-label': say('clear') }}
        valueFormat="YYYY-MM-DD HH:mm:ss"
        value={value === undefined ? null : formatTime(value)}
        onChange={(text) => onChange(text === null ? undefined : parseTime(text))}
        // The calendar is named by the field that it opens from.
        popoverProps={{ withinPortal: true, id }}
      />
    </DatesProvider>
  )
}

const dateTexts = defineTexts('date', {
  zh: {
    previousMonth: '上个月',
    nextMonth: '下个月',
    previousYear: '上一年',
    nextYear: '下一年',
    previousDecade: '前十年',
    nextDecade: '后十年',
    hours: '时',
    minutes: '分',
    seconds: '秒',
  },
  en: {
    previousMonth: 'Previous month',
    nextMonth: 'Next month',
    previousYear: 'Previous year',
    nextYear: 'Next year',
    previousDecade: 'Previous decade',
    nextDecade: 'Next decade',
    hours: 'Hours',
    minutes: 'Minutes',
    seconds: 'Seconds',
  },
})
