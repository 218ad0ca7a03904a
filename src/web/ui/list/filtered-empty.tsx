import { Button } from '@mantine/core'
import { useText } from '../../lib/i18n.ts'
import type { EmptyProps } from '../page/empty.tsx'
import { texts } from '../texts.ts'

/** The message of a list when its filters match nothing, or its page is past the end. */
export function useFilteredEmpty(onReset: () => void): EmptyProps {
  const say = useText(texts)
  return {
    title: say('emptyFiltered'),
    hint: say('emptyFilteredHint'),
    action: (
      <Button variant="default" onClick={onReset}>
        {say('reset')}
      </Button>
    ),
  }
}
