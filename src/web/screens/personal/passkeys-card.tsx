import { Button } from '@mantine/core'
import { IconFingerprint } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import type { Passkey } from '../../../contract/entities/passkey.ts'
import type { CallReply } from '../../lib/call.ts'
import { useText } from '../../lib/i18n.ts'
import { supportsPasskeys } from '../../lib/passkey.ts'
import { useWrite } from '../../lib/query.ts'
import { confirm } from '../../ui/dialog/confirm.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import shared from '../../ui/shared.module.css'
import { TimeText } from '../../ui/view/time-text.tsx'
import styles from './personal.module.css'
import { securityTexts } from './security-texts.ts'

const AddDialog = lazy(async () => ({ default: (await import('./passkey-dialog.tsx')).AddPasskeyDialog }))
const RenameDialog = lazy(async () => ({ default: (await import('./passkey-dialog.tsx')).RenamePasskeyDialog }))

/** The passkeys of the account, by the names that their owner gave them. */
export function PasskeysCard({ security }: { security: CallReply<'GET /api/user/security'> }) {
  const say = useText(securityTexts)
  const [adding, setAdding] = useState(false)
  const { passkeys, passkeys_offered: offered } = security
  const missing = offered ? (supportsPasskeys() ? undefined : say('passkeysUnknown')) : say('passkeysOff')

  return (
    <Panel
      title={say('passkeys')}
      description={say('passkeysHint')}
      aside={
        missing === undefined && (
          <Button variant="default" size="compact-md" onClick={() => setAdding(true)}>
            {say('add')}
          </Button>
        )
      }
    >
      {passkeys.length > 0 ? (
        <ul className={styles.list}>
          {passkeys.map((passkey) => (
            <li key={passkey.id}>
              <Row passkey={passkey} />
            </li>
          ))}
        </ul>
      ) : (
        <span className={shared.quiet}>{missing ?? say('passkeysEmpty')}</span>
      )}
      {adding && (
        <Suspense>
          <AddDialog suggestion={say('nameDefault', { n: passkeys.length + 1 })} onClose={() => setAdding(false)} />
        </Suspense>
      )}
    </Panel>
  )
}

function Row({ passkey }: { passkey: Passkey }) {
  const say = useText(securityTexts)
  const [renaming, setRenaming] = useState(false)
  const remove = useWrite('DELETE /api/user/passkey/:id', {
    invalidates: ['GET /api/user/security'],
    success: say('removed'),
  })

  async function ask(): Promise<void> {
    const sure = await confirm({
      title: say('removeTitle'),
      object: passkey.name,
      body: say('removeBody'),
      confirmLabel: say('remove'),
      danger: true,
    })
    if (sure) remove.mutate({ params: { id: passkey.id } })
  }

  return (
    <div className={styles.row}>
      <IconFingerprint size={20} stroke={1.5} aria-hidden="true" />
      <span className={styles.words}>
        <span>{passkey.name}</span>
        <small className={shared.note}>
          {say('addedAt')} <TimeText seconds={passkey.created_at} /> ·{' '}
          {passkey.used_at === 0 ? (
            say('neverUsed')
          ) : (
            <>
              {say('usedAt')} <TimeText seconds={passkey.used_at} />
            </>
          )}
        </small>
      </span>
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        aria-label={`${say('rename')}: ${passkey.name}`}
        onClick={() => setRenaming(true)}
      >
        {say('rename')}
      </Button>
      <Button
        variant="subtle"
        color="red"
        size="compact-sm"
        loading={remove.isPending}
        aria-label={`${say('remove')}: ${passkey.name}`}
        onClick={() => void ask()}
      >
        {say('remove')}
      </Button>
      {renaming && (
        <Suspense>
          <RenameDialog passkey={passkey} onClose={() => setRenaming(false)} />
        </Suspense>
      )}
    </div>
  )
}
