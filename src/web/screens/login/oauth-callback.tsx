import { Loader } from '@mantine/core'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { type OAuthProvider, oauthProviders, telegramFieldNames } from '../../../contract/entities/external-identity.ts'
import { sitePath } from '../../lib/base-path.ts'
import { call, callWhole } from '../../lib/call.ts'
import { textOf, useText } from '../../lib/i18n.ts'
import { useAfterEntry } from '../../lib/invitation.ts'
import { inviteCode } from '../../lib/invite.ts'
import { parseSearch } from '../../lib/search-params.ts'
import { currentUser, rememberUser } from '../../lib/session.ts'
import { toast } from '../../lib/toast.ts'
import { EntryCard } from './entry-card.tsx'
import { entryTexts } from './entry-texts.ts'
import styles from './login.module.css'
import { needsSecondFactor, SecondFactor } from './second-factor.tsx'

/** The redirect URI of the providers. Code and state are valid once, and are removed from the address. */
export function Screen() {
  const say = useText(entryTexts)
  const navigate = useNavigate()
  const { pathname } = useLocation()
  const [half, setHalf] = useState(false)
  const next = useAfterEntry()
  const begun = useRef(false)

  useEffect(() => {
    if (begun.current) return
    begun.current = true
    const given = parseSearch(location.search)
    window.history.replaceState(window.history.state, '', sitePath(pathname))
    handleCallback(pathname, given)
      .then((went) => {
        toast.success(textOf(entryTexts, went === 'bound' ? 'bound' : 'success'))
        void navigate({ ...(went === 'bound' ? { to: '/setting' } : next), replace: true })
      })
      .catch((cause: unknown) => {
        if (needsSecondFactor(cause)) return setHalf(true)
        toast.failure(cause)
        toast.info(textOf(entryTexts, 'callbackFailed'))
        void navigate({ to: '/setting', replace: true })
      })
  }, [pathname, navigate, next])

  if (half) {
    return (
      <EntryCard title={say('secondTitle')}>
        <SecondFactor
          onLeave={() => void navigate({ to: '/login', replace: true })}
          onDone={() => void navigate({ ...next, replace: true })}
        />
      </EntryCard>
    )
  }
  return (
    <EntryCard title={say('processing')}>
      <Loader className={styles.waiting ?? ''} aria-hidden="true" />
    </EntryCard>
  )
}

type Given = Readonly<Record<string, string>>

async function handleCallback(pathname: string, given: Given): Promise<'in' | 'bound'> {
  const name = pathname.split('/').at(-1)
  if (name === 'telegram') return comeFromTelegram(given)
  if (given.error)
    throw new Error(given.error === 'access_denied' ? textOf(entryTexts, 'denied') : given.error_description || given.error)

  const organisation = /\/oauth\/sso\/(\d+)\/?$/.exec(pathname)?.[1]
  if (organisation !== undefined) {
    const body = { organisation_id: Number(organisation), code: given.code ?? '', state: given.state ?? '' }
    rememberUser(await call('POST /api/sso/callback', { body }))
    return 'in'
  }
  const provider = oauthProviders.find((known) => known === name) ?? 'github'
  const line: `POST /api/oauth/${OAuthProvider}` = `POST /api/oauth/${provider}`
  const { data, message } = await callWhole(line, { body: { code: given.code ?? '', state: given.state ?? '' } })
  if (message === 'bind' || !data) return 'bound'
  inviteCode.write(undefined)
  rememberUser(data)
  return 'in'
}

async function comeFromTelegram(given: Given): Promise<'in' | 'bound'> {
  const names = ['state', ...telegramFieldNames]
  const fields = Object.fromEntries(Object.entries(given).filter(([name]) => names.includes(name)))
  // The server reads each field by its schema.
  const body = fields as Record<(typeof telegramFieldNames)[number], string> & { state: string }
  if (currentUser()) {
    await call('POST /api/oauth/telegram/bind', { body })
    return 'bound'
  }
  rememberUser(await call('POST /api/oauth/telegram/login', { body }))
  return 'in'
}
