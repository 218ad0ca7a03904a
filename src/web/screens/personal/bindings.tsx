import { Button, Skeleton } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import type { Binding } from '../../../contract/entities/external-identity.ts'
import { call } from '../../lib/call.ts'
import { useText } from '../../lib/i18n.ts'
import { startOAuth } from '../../lib/oauth-start.ts'
import { read, useWrite } from '../../lib/query.ts'
import { toast } from '../../lib/toast.ts'
import { confirm } from '../../ui/dialog/confirm.tsx'
import { ErrorView } from '../../ui/page/error-view.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import shared from '../../ui/shared.module.css'
import { ProviderIcon, useProviderNames } from '../../ui/view/provider-icons.tsx'
import styles from './personal.module.css'
import { securityTexts } from './security-texts.ts'

const WechatDialog = lazy(async () => ({ default: (await import('../../ui/account/wechat-dialog.tsx')).WechatDialog }))
const TelegramDialog = lazy(async () => ({ default: (await import('../../ui/account/telegram-dialog.tsx')).TelegramDialog }))

/** External identities of the user. Providers that the site does not offer are shown only if an identity is bound. */
export function Bindings() {
  const say = useText(securityTexts)
  // Binding continues in a separate window; on return the result is shown.
  const bindings = useQuery({ ...read('GET /api/user/binding'), refetchOnWindowFocus: 'always' })
  const shown = bindings.data?.filter(({ offered, account }) => offered || account !== '')

  return (
    <Panel title={say('bindings')} description={say('bindingsHint')}>
      {shown ? (
        shown.length > 0 ? (
          <ul className={styles.list}>
            {shown.map((binding) => (
              <li key={binding.provider}>
                <Row binding={binding} />
              </li>
            ))}
          </ul>
        ) : (
          <span className={shared.quiet}>{say('bindingsNone')}</span>
        )
      ) : bindings.error ? (
        <ErrorView error={bindings.error} onRetry={() => void bindings.refetch()} />
      ) : (
        <Skeleton height={44} />
      )}
    </Panel>
  )
}

function Row({ binding: { provider, account, offered } }: { binding: Binding }) {
  const say = useText(securityTexts)
  const name = useProviderNames()(provider)
  const [asking, setAsking] = useState<{ state: string }>()
  const begin = useMutation({
    mutationFn: async () => {
      if (provider === 'wechat') return setAsking({ state: '' })
      const start = () => call('POST /api/user/binding', { body: { provider } })
      if (provider === 'telegram') return setAsking(await start())
      await startOAuth(start)
    },
    onError: toast.failure,
  })
  const unbind = useWrite('DELETE /api/user/binding/:provider', {
    invalidates: ['GET /api/user/binding', 'GET /api/user/self'],
    success: say('unbound'),
  })

  async function ask(): Promise<void> {
    const sure = await confirm({
      title: say('unbindTitle', { name }),
      object: account,
      body: say('unbindBody'),
      confirmLabel: say('unbind'),
      danger: true,
    })
    if (sure) unbind.mutate({ params: { provider } })
  }

  return (
    <div className={styles.row}>
      <ProviderIcon provider={provider} size={20} stroke={1.5} />
      <span className={styles.words}>
        <span>{name}</span>
        <small className={shared.note}>{account === '' ? say('notBound') : shownAccount(account)}</small>
      </span>
      {offered ? (
        <Button
          variant="default"
          size="compact-md"
          loading={begin.isPending}
          aria-label={`${say(account === '' ? 'bind' : 'rebind')}: ${name}`}
          onClick={() => begin.mutate()}
        >
          {say(account === '' ? 'bind' : 'rebind')}
        </Button>
      ) : (
        <span className={shared.quiet}>{say('notOffered')}</span>
      )}
      {account !== '' && (
        <Button
          variant="subtle"
          color="red"
          size="compact-md"
          loading={unbind.isPending}
          aria-label={`${say('unbind')}: ${name}`}
          onClick={() => void ask()}
        >
          {say('unbind')}
        </Button>
      )}
      {asking && (
        <Suspense>
          {provider === 'wechat' ? (
            <BindWechat onClose={() => setAsking(undefined)} />
          ) : (
            <BindTelegram state={asking.state} onClose={() => setAsking(undefined)} />
          )}
        </Suspense>
      )}
    </div>
  )
}

function BindWechat({ onClose }: { onClose: () => void }) {
  const say = useText(securityTexts)
  const bind = useWrite('POST /api/oauth/wechat/bind', {
    invalidates: ['GET /api/user/binding', 'GET /api/user/self'],
    success: say('wechatBound'),
    onSuccess: onClose,
  })
  const words = {
    title: say('wechatTitle'),
    hint: say('wechatHint'),
    qr: say('wechatQr'),
    code: say('code'),
    missing: say('codeMissing'),
    submit: say('bind'),
  }
  return <WechatDialog words={words} busy={bind.isPending} onCode={(code) => bind.mutate({ body: { code } })} onClose={onClose} />
}

function BindTelegram({ state, onClose }: { state: string; onClose: () => void }) {
  const say = useText(securityTexts)
  const words = { title: say('telegramTitle'), hint: say('telegramHint'), failed: say('telegramFailed') }
  return <TelegramDialog words={words} state={state} onClose={onClose} />
}

/** The account name at an OpenID provider, without the issuer before it. */
function shownAccount(account: string): string {
  return account.split(' ').at(-1) ?? account
}
