import { Input, Skeleton } from '@mantine/core'
import { lazy, type ReactNode, Suspense } from 'react'

// React asks for a default export of what it loads lazily.
const LazyDateTimePicker = lazy(() => import('./date-time-picker.tsx'))

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

/** A moment in local time, picked from a calendar. */
export function DateTimeInput(props: DateTimeInputProps) {
  const waiting = (
    <Input.Wrapper label={props.label} description={props.description}>
      <Skeleton height={36} />
    </Input.Wrapper>
  )
  return (
    <Suspense fallback={waiting}>
      <LazyDateTimePicker {...props} />
    </Suspense>
  )
}
