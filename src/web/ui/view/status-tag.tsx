import { Tooltip } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Text } from '../../../contract/text.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { texts } from '../texts.ts'
import { Tag, type TagProps } from './tag.tsx'

/** A tag that explains itself when it is pointed at or focused. */
export function HintTag({ hint, ...rest }: TagProps & { hint: ReactNode }) {
  return (
    <Tooltip label={hint} multiline maw={360}>
      <Tag tabIndex={0} {...rest} />
    </Tooltip>
  )
}

/** The state of something, from a label table of the contract: `<StatusTag state={tokenStatusLabels[row.status]} />`. */
export function StatusTag({ state, hint }: { state: { label: Text; color: string } | undefined; hint?: ReactNode }) {
  const local = useLocal()
  const say = useText(texts)
  const tag = { dot: true, color: state?.color ?? 'gray', children: state ? local(state.label) : say('unknown') }
  return hint ? <HintTag hint={hint} {...tag} /> : <Tag {...tag} />
}
