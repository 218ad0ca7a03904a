import { Anchor, Box, Textarea, type TextareaProps } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import { isJson } from '../../lib/json.ts'
import { texts } from '../texts.ts'
import styles from './json-input.module.css'

export interface JsonInputProps extends Omit<TextareaProps, 'value' | 'onChange'> {
  readonly value: string
  readonly onChange: (value: string) => void
  /** At the right of the label. */
  readonly aside?: ReactNode
}

/** JSON as text: validated on blur, formatted on demand. Empty is valid here; the form decides whether it is allowed. */
export function JsonInput({ value, onChange, error, label, onBlur, aside, ...rest }: JsonInputProps) {
  const say = useText(texts)
  const [left, setLeft] = useState(false)
  const broken = value.trim() !== '' && !isJson(value)

  return (
    <Box pos="relative">
      <Textarea
        {...rest}
        label={label}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        onBlur={(event) => {
          setLeft(true)
          onBlur?.(event)
        }}
        error={error ?? (left && broken ? say('invalidJson') : undefined)}
        autosize
        minRows={rest.minRows ?? 4}
        maxRows={rest.maxRows ?? 16}
        spellCheck={false}
        classNames={{ input: styles.input ?? '' }}
      />
      <div className={styles.aside}>
        {!broken && value.trim() !== '' && !rest.disabled && !rest.readOnly && (
          <Anchor component="button" type="button" size="xs" onClick={() => onChange(JSON.stringify(JSON.parse(value), null, 2))}>
            {say('tidyJson')}
          </Anchor>
        )}
        {aside}
      </div>
    </Box>
  )
}
