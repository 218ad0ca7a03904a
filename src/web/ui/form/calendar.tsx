import '@mantine/dates/styles.layer.css'
import 'dayjs/locale/ja'
import 'dayjs/locale/zh-cn'
import 'dayjs/locale/zh-tw'
import { DatesProvider, InlineDateTimePicker } from '@mantine/dates'
import { defineTexts, useConsoleLanguage, useText } from '../../lib/i18n.ts'
import { formatTime, parseTime } from '../../lib/times.ts'
import { texts } from '../texts.ts'

interface CalendarProps {
  /** Unix seconds. */
  readonly value: number | undefined
  readonly onChange: (seconds: number | undefined) => void
  readonly onDone: () => void
}

/** A month and a clock to pick a moment from; loaded when it is first opened. */
export function Calendar({ value, onChange, onDone }: CalendarProps) {
  const { locale } = useConsoleLanguage()
  const say = useText(texts)
  const sayDate = useText(dateTexts)
  return (
    <DatesProvider settings={{ locale: locale.toLowerCase(), firstDayOfWeek: 1, weekendDays: [] }}>
      <InlineDateTimePicker
        fullWidth={false}
        withSeconds
        hideOutsideDates
        monthLabelFormat={locale === 'en' ? 'MMMM YYYY' : 'YYYY 年 M 月'}
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
        value={value === undefined ? null : formatTime(value)}
        onChange={(text) => onChange(text === null ? undefined : parseTime(text))}
        onSubmit={onDone}
      />
    </DatesProvider>
  )
}

const dateTexts = defineTexts({
  previousMonth: ['上个月', 'Previous month'],
  nextMonth: ['下个月', 'Next month'],
  previousYear: ['上一年', 'Previous year'],
  nextYear: ['下一年', 'Next year'],
  previousDecade: ['前十年', 'Previous decade'],
  nextDecade: ['后十年', 'Next decade'],
  hours: ['时', 'Hours'],
  minutes: ['分', 'Minutes'],
  seconds: ['秒', 'Seconds'],
})
