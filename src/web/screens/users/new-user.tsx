import { Button, Group, Textarea } from '@mantine/core'
import { IconCopy } from '@tabler/icons-react'
import { sitePath } from '../../lib/base-path.ts'
import { useExactQuota } from '../../lib/format.ts'
import { fullKey } from '../../lib/full-key.ts'
import { textOf, useText } from '../../lib/i18n.ts'
import { useServerAddress } from '../../lib/server-address.ts'
import { useStatus } from '../../lib/status.ts'
import { showDialog } from '../../ui/dialog/dialogs.tsx'
import shared from '../../ui/shared.module.css'
import { copyText } from '../../ui/view/copy-text.tsx'
import { texts } from './texts.ts'

interface NewUserProps {
  readonly username: string
  readonly password: string
  /** Units, with the bonus of new users. */
  readonly quota: number
  /** Units a day; 0 for no budget. */
  readonly budget: number
  /** The key of the new token, without its prefix. */
  readonly tokenKey: string | undefined
}

export function showNewUser(made: NewUserProps): void {
  void showDialog({
    title: textOf(texts, 'newUserTitle', { name: made.username }),
    body: <NewUser {...made} />,
    cancelLabel: textOf(texts, 'newUserDone'),
    wide: true,
  })
}

/** A text to send to the new user: where to log in, and what to call with. */
function NewUser({ username, password, quota, budget, tokenKey }: NewUserProps) {
  const say = useText(texts)
  const format = useExactQuota()
  const address = useServerAddress()
  const { system_name: site } = useStatus()
  const lines = [
    say('sendSite', { site, address: `${window.location.origin}${sitePath('/login')}` }),
    say('sendLogin', { username, password }),
    ...(quota > 0 ? [say('sendQuota', { amount: format(quota) })] : []),
    ...(budget > 0 ? [say('sendBudget', { amount: format(budget) })] : []),
    ...(tokenKey === undefined ? [] : ['', say('sendKey', { base: `${address}/v1`, key: fullKey({ key: tokenKey }) })]),
    '',
    say('sendAdvice'),
  ]
  const letter = lines.join('\n')
  return (
    <>
      <p className={shared.intro}>{say('newUserHint')}</p>
      <Textarea readOnly autosize maxRows={16} aria-label={say('newUserLetter')} value={letter} />
      <Group mt="md">
        <Button leftSection={<IconCopy size={16} />} onClick={() => void copyText(letter)}>
          {say('newUserCopy')}
        </Button>
      </Group>
    </>
  )
}
