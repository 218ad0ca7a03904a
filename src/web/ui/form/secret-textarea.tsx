import { ActionIcon, Textarea, type TextareaProps } from '@mantine/core'
import { IconEye, IconEyeOff } from '@tabler/icons-react'
import { useState } from 'react'
import styles from './secret-textarea.module.css'

interface SecretTextareaProps extends TextareaProps {
  readonly showLabel: string
  readonly hideLabel: string
}

/** A secret that may have several lines, masked until it is shown on purpose. */
export function SecretTextarea({ showLabel, hideLabel, ...rest }: SecretTextareaProps) {
  const [shown, setShown] = useState(false)
  const Icon = shown ? IconEyeOff : IconEye
  return (
    <Textarea
      {...rest}
      autosize
      autoComplete="off"
      spellCheck={false}
      classNames={{ input: shown ? styles.input : styles.masked, section: styles.section }}
      rightSection={
        <ActionIcon aria-label={shown ? hideLabel : showLabel} aria-pressed={shown} onClick={() => setShown(!shown)}>
          <Icon size={17} stroke={1.6} />
        </ActionIcon>
      }
    />
  )
}
