import { Anchor, Box } from '@mantine/core'
import type { Field } from '../../../contract/fields.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { PasswordField } from '../../ui/form/password-field.tsx'
import { Tag } from '../../ui/view/tag.tsx'
import styles from './settings.module.css'
import { texts } from './texts.ts'

interface SecretInputProps {
  readonly field: Field
  readonly isSet: boolean
  /** Typed text replaces the saved value, '' clears it, undefined keeps it. */
  readonly draft: string | undefined
  readonly onChange: (draft: string | undefined) => void
  readonly error?: string
  readonly disabled?: boolean
}

/** A value that can be written but never read: leaving it blank keeps it, clearing it is a separate choice. */
export function SecretInput({ field, isSet, draft, onChange, error, disabled }: SecretInputProps) {
  const say = useText(texts)
  const local = useLocal()
  const clearing = draft === ''

  return (
    <Box pos="relative">
      <PasswordField
        label={local(field.label)}
        description={field.help && local(field.help)}
        placeholder={clearing ? say('secretWillClear') : isSet ? say('secretSet') : say('secretUnset')}
        autoComplete="new-password"
        value={draft ?? ''}
        onChange={(event) => onChange(event.currentTarget.value || undefined)}
        error={error}
        disabled={disabled}
      />
      {clearing ? (
        <div className={styles.secretTools}>
          <Tag color="orange">{say('secretWillClear')}</Tag>
          <Anchor component="button" type="button" size="xs" onClick={() => onChange(undefined)}>
            {say('secretKeep')}
          </Anchor>
        </div>
      ) : (
        isSet &&
        !disabled && (
          <div className={styles.secretTools}>
            <Anchor component="button" type="button" size="xs" onClick={() => onChange('')}>
              {say('secretClear')}
            </Anchor>
          </div>
        )
      )}
    </Box>
  )
}
