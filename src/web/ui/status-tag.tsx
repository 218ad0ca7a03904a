import { Tooltip } from '@mantine/core'
import type { CSSProperties, ReactNode } from 'react'
import type { Text } from '../../contract/text.ts'
import { useLocal, useText } from '../lib/i18n.ts'
import styles from './status-tag.module.css'
import { texts } from './texts.ts'

export interface TagProps {
  /** A colour of the theme, such as `green` or `sluice`. */
  readonly color?: string
  readonly children: ReactNode
  readonly tooltip?: ReactNode
  /** A dot before the text, for states. */
  readonly dot?: boolean
}

/** A quiet tinted label. The colour only supports the text, which always says it too. */
export function Tag({ color = 'gray', children, tooltip, dot = false }: TagProps) {
  // A custom property is no member of the standard style type.
  const style = { '--tag': `var(--mantine-color-${color}-6)` } as CSSProperties
  const tag = (
    <span className={styles.tag} style={style} tabIndex={tooltip ? 0 : undefined}>
      {dot && <span className={styles.dot} aria-hidden="true" />}
      {children}
    </span>
  )
  if (!tooltip) return tag
  return (
    <Tooltip label={tooltip} multiline maw={360}>
      {tag}
    </Tooltip>
  )
}

/** The state of something, from a label table of the contract: `<StatusTag state={tokenStatusLabels[row.status]} />`. */
export function StatusTag({ state, tooltip }: { state: { label: Text; color: string } | undefined; tooltip?: ReactNode }) {
  const local = useLocal()
  const say = useText(texts)
  return (
    <Tag dot color={state?.color ?? 'gray'} tooltip={tooltip}>
      {state ? local(state.label) : say('unknown')}
    </Tag>
  )
}
