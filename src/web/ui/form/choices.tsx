import { Button } from '@mantine/core'
import styles from './choices.module.css'

export interface Offer {
  readonly label: string
  readonly onClick: () => void
}

interface ChoicesProps {
  readonly offers: readonly Offer[]
  readonly disabled?: boolean | undefined
}

/** Frequent values as buttons, below their field. */
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
