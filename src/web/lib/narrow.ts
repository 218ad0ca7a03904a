import { useMediaQuery } from '@mantine/hooks'

/** A window of 600 px or less, in which tables become cards and the navigation a drawer. */
export function useNarrow(): boolean {
  return useMediaQuery('(width <= 600px)', undefined, { getInitialValueInEffect: false })
}

/** A window of 900 px or less, too narrow for side columns. */
export function useTight(): boolean {
  return useMediaQuery('(width <= 900px)', undefined, { getInitialValueInEffect: false })
}
