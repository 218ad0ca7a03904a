import { Input, Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import type { DateTimeInputProps } from './date-time-picker.tsx'

const LazyPicker = lazy(async () => ({ default: (await import('./date-time-picker.tsx')).LocalDateTimePicker }))

/** A moment in local time, picked from a calendar. */
export function DateTimeInput(props: DateTimeInputProps) {
  const waiting = (
    <Input.Wrapper label={props.label} description={props.description}>
      <Skeleton height={36} />
    </Input.Wrapper>
  )
  return (
    <Suspense fallback={waiting}>
      <LazyPicker {...props} />
    </Suspense>
  )
}
