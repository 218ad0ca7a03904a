import { ActionIcon } from '@mantine/core'
import { IconEye, IconEyeOff } from '@tabler/icons-react'
import { useState } from 'react'
import type { Redemption } from '../../../contract/entities/redemption.ts'
import { useText } from '../../lib/i18n.ts'
import { CopyButton } from '../../ui/copy-text.tsx'
import styles from './redemptions.module.css'
import { texts } from './texts.ts'

/** The code, masked until it is shown on purpose: whoever looks over a shoulder could redeem it. */
export function CodeCell({ code: { key, name } }: { code: Redemption }) {
  const say = useText(texts)
  const [shown, setShown] = useState(false)
  const Icon = shown ? IconEyeOff : IconEye
  return (
    <div className={styles.key}>
      <code data-shown={shown}>{shown ? key : `${key.slice(0, 4)}…${key.slice(-4)}`}</code>
      <ActionIcon
        size="sm"
        aria-pressed={shown}
        aria-label={say(shown ? 'hideKey' : 'showKey', { name })}
        onClick={() => setShown(!shown)}
      >
        <Icon size={15} stroke={1.6} />
      </ActionIcon>
      <CopyButton text={key} label={name} />
    </div>
  )
}
