import { Button } from '@mantine/core'
import styles from './choices.module.css'

export interface ChoicesProps {
  readonly offers: readonly { readonly label: string; readonly onClick: () => void }[]
  readonly disabled?: boolean
}

/** What is often entered, to be pressed instead, below its field. */
export function Choices({ offers, disabled = false }: ChoicesProps) {
  return (
    <div className={styles.choices}>
      {offers.map(({ label, onClick }) => (
        <Button key={label} size="compact-sm" variant="default" disabled={disabled} onClick={onClick}>
          {label}
        </Button>
      ))}
    </div>
  )
}
