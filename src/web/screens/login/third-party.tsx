import { Button, Divider, Stack } from '@mantine/core'
import { IconFingerprint } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import type { IdentityProvider, OAuthProvider } from '../../../contract/entities/external-identity.ts'
import { ApiError, call } from '../../lib/call.ts'
import { useText } from '../../lib/i18n.ts'
import { inviteCode } from '../../lib/invite.ts'
import { startOAuth } from '../../lib/oauth-start.ts'
import { requestPasskey, supportsPasskeys } from '../../lib/passkey.ts'
import { useWrite } from '../../lib/query.ts'
import { rememberUser } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { toast } from '../../lib/toast.ts'
import { ProviderIcon, useProviderNames } from '../../ui/view/provider-icons.tsx'
import { entryTexts } from './entry-texts.ts'
import styles from './login.module.css'
import { needsSecondFactor } from './second-factor.tsx'

const WechatDialog = lazy(async () => ({ default: (await import('../../ui/account/wechat-dialog.tsx')).WechatDialog }))
const TelegramDialog = lazy(async () => ({ default: (await import('../../ui/account/telegram-dialog.tsx')).TelegramDialog }))

interface ThirdPartyProps {
  /** The first factor was given; the second is due. */
  readonly onSecondFactor: () => void
  /** False for a sign-up: new users have no passkey yet. */
  readonly withPasskey?: boolean
}

/** The login methods other than the password that the site offers; nothing when it offers none. */
export function ThirdParty({ onSecondFactor, withPasskey = true }: ThirdPartyProps) {
  const say = useText(entryTexts)
  const status = useStatus()
  const oauth = (['github', 'linuxdo', 'oidc'] as const).filter((provider) => offers(status, provider))
  const passkey = withPasskey && status.passkey_login && supportsPasskeys()
  if (oauth.length === 0 && !passkey && !status.wechat_login && !status.telegram_oauth) return null

  return (
    <Stack gap="sm" className={styles.form ?? ''}>
      <Divider label={say('thirdParty')} />
      {passkey && <PasskeyButton />}
      {oauth.map((provider) => (
        <VisitButton key={provider} provider={provider} />
      ))}
      {status.wechat_login && <WechatButton onSecondFactor={onSecondFactor} />}
      {status.telegram_oauth && <TelegramButton />}
    </Stack>
  )
}

function offers(status: ReturnType<typeof useStatus>, provider: OAuthProvider): boolean {
  return { github: status.github_oauth, linuxdo: status.linuxdo_oauth, oidc: status.oidc_enabled }[provider]
}

function ProviderButton(props: { provider: IdentityProvider; loading?: boolean; onClick: () => void }) {
  const say = useText(entryTexts)
  const nameOf = useProviderNames()
  const { provider, loading = false, onClick } = props
  return (
    <Button
      variant="default"
      size="md"
      fullWidth
      leftSection={<ProviderIcon provider={provider} />}
      loading={loading}
      onClick={onClick}
    >
      {provider === 'wechat' ? say('continueWithWechat') : say('continueWith', { name: nameOf(provider) })}
    </Button>
  )
}

function VisitButton({ provider }: { provider: OAuthProvider }) {
  const start = useMutation({
    mutationFn: () => startOAuth(() => call('POST /api/oauth/state', { body: { provider, aff: inviteCode.read() || null } })),
    onError: toast.failure,
  })
  return <ProviderButton provider={provider} loading={start.isPending} onClick={() => start.mutate()} />
}

function PasskeyButton() {
  const say = useText(entryTexts)
  const enter = useMutation({
    async mutationFn() {
      const answer = await requestPasskey(await call('POST /api/user/login/passkey/options'))
      if (!answer) return
      rememberUser(await call('POST /api/user/login/passkey', { body: { answer } }))
      toast.success(say('success'))
    },
    onError: toast.failure,
  })
  return (
    <Button
      variant="default"
      size="md"
      fullWidth
      leftSection={<IconFingerprint size={18} stroke={1.7} aria-hidden="true" />}
      loading={enter.isPending}
      onClick={() => enter.mutate()}
    >
      {say('passkey')}
    </Button>
  )
}

function WechatButton({ onSecondFactor }: { onSecondFactor: () => void }) {
  const say = useText(entryTexts)
  const [open, setOpen] = useState(false)
  const [error, setError] = useState<string>()
  const enter = useWrite('POST /api/oauth/wechat', {
    success: say('success'),
    onSuccess: rememberUser,
    onFailure: (cause) => {
      if (needsSecondFactor(cause)) {
        setOpen(false)
        onSecondFactor()
        return true
      }
      if (!(cause instanceof ApiError) || cause.code !== 'code_wrong') return false
      setError(cause.message)
      return true
    },
  })
  const words = {
    title: say('wechatTitle'),
    hint: say('wechatHint'),
    qr: say('wechatQr'),
    code: say('code'),
    missing: say('codeMissing'),
    submit: say('wechatSubmit'),
  }
  return (
    <>
      <ProviderButton provider="wechat" onClick={() => setOpen(true)} />
      {open && (
        <Suspense>
          <WechatDialog
            words={words}
            busy={enter.isPending}
            error={error}
            onCode={(code) => {
              setError(undefined)
              enter.mutate({ body: { code, aff: inviteCode.read() || null } })
            }}
            onClose={() => setOpen(false)}
          />
        </Suspense>
      )}
    </>
  )
}

function TelegramButton() {
  const say = useText(entryTexts)
  const [state, setState] = useState<string>()
  const begin = useWrite('POST /api/oauth/state', { onSuccess: (start) => setState(start.state) })
  const words = { title: say('telegramTitle'), hint: say('telegramHint'), failed: say('telegramFailed') }
  return (
    <>
      <ProviderButton
        provider="telegram"
        loading={begin.isPending}
        onClick={() => begin.mutate({ body: { provider: 'telegram', aff: null } })}
      />
      {state !== undefined && (
        <Suspense>
          <TelegramDialog words={words} state={state} onClose={() => setState(undefined)} />
        </Suspense>
      )}
    </>
  )
}
