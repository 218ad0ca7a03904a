import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import type { CallReply } from '../../lib/call.ts'
import { useText } from '../../lib/i18n.ts'
import { read, useWrite } from '../../lib/query.ts'
import { confirm } from '../../ui/dialog/confirm.tsx'
import { ErrorView } from '../../ui/page/error-view.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import shared from '../../ui/shared.module.css'
import { Tag } from '../../ui/view/tag.tsx'
import { PasskeysCard } from './passkeys-card.tsx'
import styles from './personal.module.css'
import { securityTexts } from './security-texts.ts'

const SetUpDialog = lazy(async () => ({ default: (await import('./two-factor-dialog.tsx')).TwoFactorDialog }))
const CodesDialog = lazy(async () => ({ default: (await import('./backup-codes.tsx')).BackupCodesDialog }))

/** Two-factor authentication and passkeys of the user. */
export function Security() {
  const security = useQuery(read('GET /api/user/security'))
  if (security.data) {
    return (
      <>
        <TwoFactorCard security={security.data} />
        <PasskeysCard security={security.data} />
      </>
    )
  }
  if (security.error) return <ErrorView error={security.error} onRetry={() => void security.refetch()} />
  return <Skeleton height={150} radius="lg" />
}

function TwoFactorCard({ security }: { security: CallReply<'GET /api/user/security'> }) {
  const say = useText(securityTexts)
  const [settingUp, setSettingUp] = useState<CallReply<'POST /api/user/two_factor'>>()
  const [codes, setCodes] = useState<readonly string[]>()
  const begin = useWrite('POST /api/user/two_factor', { onSuccess: setSettingUp })
  const end = useWrite('DELETE /api/user/two_factor', {
    invalidates: ['GET /api/user/security'],
    success: say('turnedOff'),
  })
  const renew = useWrite('POST /api/user/two_factor/backup_codes', {
    invalidates: ['GET /api/user/security'],
    onSuccess: setCodes,
  })

  async function askEnd(): Promise<void> {
    const sure = await confirm({
      title: say('turnOffTitle'),
      body: say('turnOffBody'),
      confirmLabel: say('turnOff'),
      danger: true,
    })
    if (sure) end.mutate({})
  }
  async function askRenew(): Promise<void> {
    const title = say('newCodesTitle')
    if (await confirm({ title, body: say('newCodesBody'), confirmLabel: say('newCodes') })) renew.mutate({})
  }

  return (
    <Panel title={say('twoFactor')} description={say('twoFactorHint')}>
      <div className={styles.row}>
        <span className={styles.words}>
          <span>
            <Tag color={security.two_factor ? 'green' : 'gray'}>{say(security.two_factor ? 'on' : 'off')}</Tag>
          </span>
          {security.two_factor && <small className={shared.note}>{say('codesLeft', { count: security.backup_codes })}</small>}
        </span>
        {security.two_factor ? (
          <>
            <Button variant="default" loading={renew.isPending} onClick={() => void askRenew()}>
              {say('newCodes')}
            </Button>
            <Button variant="default" loading={end.isPending} onClick={() => void askEnd()}>
              {say('turnOff')}
            </Button>
          </>
        ) : (
          <Button variant="default" loading={begin.isPending} onClick={() => begin.mutate({})}>
            {say('turnOn')}
          </Button>
        )}
      </div>
      <Suspense>
        {settingUp && (
          <SetUpDialog
            secret={settingUp}
            onClose={() => setSettingUp(undefined)}
            onDone={(fresh) => {
              setSettingUp(undefined)
              setCodes(fresh)
            }}
          />
        )}
        {codes && <CodesDialog codes={codes} onClose={() => setCodes(undefined)} />}
      </Suspense>
    </Panel>
  )
}
