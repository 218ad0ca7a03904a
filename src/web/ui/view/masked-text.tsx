import { ActionIcon } from '@mantine/core'
import { IconEye, IconEyeOff } from '@tabler/icons-react'
import { useState } from 'react'
import { CopyButton } from './copy-text.tsx'
import styles from './masked-text.module.css'

interface MaskedTextProps {
  readonly text: string
  /** The visible part at first. */
  readonly masked: string
  /** The name of the owner, used in the label of the copy button. */
  readonly name: string
  readonly show: string
  readonly hide: string
}

/** Something secret in a table, masked until it is shown on purpose; it can be copied without being shown. */
export function MaskedText({ text, masked, name, show, hide }: MaskedTextProps) {
  const [shown, setShown] = useState(false)
  const Icon = shown ? IconEyeOff : IconEye
  return (
    <div className={styles.masked}>
      <code data-shown={shown}>{shown ? text : masked}</code>
      <ActionIcon size="sm" aria-pressed={shown} aria-label={shown ? hide : show} onClick={() => setShown(!shown)}>
        <Icon size={15} stroke={1.6} />
      </ActionIcon>
      <CopyButton text={text} label={name} />
    </div>
  )
}
