import { ActionIcon } from '@mantine/core'
import { IconEye, IconEyeOff } from '@tabler/icons-react'
import { useState } from 'react'
import type { Token } from '../../../contract/entities/token.ts'
import { fullKey } from '../../lib/full-key.ts'
import { useText } from '../../lib/i18n.ts'
import { CopyButton } from '../../ui/copy-text.tsx'
import { texts } from './texts.ts'
import styles from './tokens.module.css'

/** The key, masked until it is shown on purpose; it can be copied without being shown. */
export function KeyCell({ token }: { token: Token }) {
  const say = useText(texts)
  const [shown, setShown] = useState(false)
  const Icon = shown ? IconEyeOff : IconEye
  const key = fullKey(token)
  return (
    <div className={styles.key}>
      <code data-shown={shown}>{shown ? key : `${key.slice(0, 7)}…${key.slice(-4)}`}</code>
      <ActionIcon
        size="sm"
        aria-pressed={shown}
        aria-label={say(shown ? 'hideKey' : 'showKey', { name: token.name })}
        onClick={() => setShown(!shown)}
      >
        <Icon size={15} stroke={1.6} />
      </ActionIcon>
      <CopyButton text={key} label={token.name} />
    </div>
  )
}
