import type { ReactNode } from 'react'
import shared from '../shared.module.css'
import styles from './facts.module.css'

export interface Fact {
  readonly label: string
  readonly value: ReactNode
}

/** Names and values. `large` shows figures as the main thing, such as a balance. */
export function Facts({ facts, large = false }: { facts: readonly Fact[]; large?: boolean }) {
  return (
    <dl className={styles.facts} data-large={large}>
      {facts.map(({ label, value }) => (
        <div key={label} className={styles.fact}>
          <dt className={shared.note}>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
