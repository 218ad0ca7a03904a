import { Button, Group, Skeleton } from '@mantine/core'
import { IconLinkOff, IconMailOpened } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { organisationCallerLabels } from '../../../contract/organisation-roles.ts'
import { type CallReply, call } from '../../lib/call.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { openInvitation } from '../../lib/invitation.ts'
import { switchPayer } from '../../lib/payer.ts'
import { useWrite } from '../../lib/query.ts'
import { useUrlState } from '../../lib/search-params.ts'
import { forgetUser, noteOrganisations, useSession } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { toast } from '../../lib/toast.ts'
import { confirm } from '../../ui/dialog/confirm.tsx'
import { Empty } from '../../ui/page/empty.tsx'
import { ErrorView } from '../../ui/page/error-view.tsx'
import { Facts } from '../../ui/page/facts.tsx'
import { Notice } from '../../ui/page/notice.tsx'
import { PageHeader } from '../../ui/page/page-header.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { ReadingPage } from '../../ui/page/reading-page.tsx'
import shared from '../../ui/shared.module.css'
import { TimeText } from '../../ui/view/time-text.tsx'
import { texts } from './texts.ts'

type Shown = CallReply<'POST /api/invitation/'>

/** The target of an invitation link: what it is for, to accept or decline. A visitor logs in or registers first, and returns. */
export function Screen() {
  const say = useText(texts)
  const user = useSession()
  const { values } = useUrlState({ token: '' })
  const { token } = values

  // The storage of the tab is outside of React.
  useEffect(() => openInvitation.write(token === '' ? undefined : token), [token])
  if (token === '') return <Empty isPage icon={<IconLinkOff />} title={say('broken')} hint={say('brokenHint')} />
  return user ? <Invitation token={token} /> : <Visitor />
}

function Visitor() {
  const say = useText(texts)
  const { register_enabled: open, self_use_mode_enabled: selfUse } = useStatus()
  return (
    <Empty
      isPage
      icon={<IconMailOpened />}
      title={say('title')}
      hint={say('visitor')}
      action={
        <Group gap="xs">
          <Button component={Link} to="/login">
            {say('login')}
          </Button>
          {open && !selfUse && (
            <Button component={Link} to="/register" variant="default">
              {say('register')}
            </Button>
          )}
        </Group>
      }
    />
  )
}

function Invitation({ token }: { token: string }) {
  const say = useText(texts)
  const found = useQuery({
    queryKey: ['POST /api/invitation/', token],
    queryFn: ({ signal }) => call('POST /api/invitation/', { body: { token }, signal }),
  })
  if (found.error) return <ErrorView error={found.error} onRetry={() => void found.refetch()} />
  const { data } = found
  return (
    <ReadingPage>
      <PageHeader title={data ? say('titleOf', { name: data.organisation }) : say('title')} description={say('explanation')} />
      {data ? <Details shown={data} token={token} /> : <Skeleton height={180} />}
    </ReadingPage>
  )
}

function Details({ shown, token }: { shown: Shown; token: string }) {
  const say = useText(texts)
  const local = useLocal()
  const user = useSession()
  const state = shown.answer === '' ? undefined : stateTexts[shown.answer]
  return (
    <Panel footer={state === undefined && <Answer shown={shown} token={token} />}>
      {state !== undefined && <Notice kind="warn">{say(state)}</Notice>}
      <Facts
        facts={[
          { label: say('organisation'), value: shown.organisation },
          { label: say('role'), value: local(organisationCallerLabels[shown.role]) },
          { label: say('inviter'), value: shown.invited_by || '—' },
          { label: say('expires'), value: <TimeText seconds={shown.expires_at} /> },
          { label: say('you'), value: user?.username },
        ]}
      />
      {state === undefined && <OtherAccount />}
    </Panel>
  )
}

const stateTexts: Readonly<Record<string, 'accepted' | 'wasDeclined' | 'withdrawn' | 'expired'>> = {
  accepted: 'accepted',
  declined: 'wasDeclined',
  withdrawn: 'withdrawn',
  expired: 'expired',
}

/** Logs out; the login returns here. */
function OtherAccount() {
  const say = useText(texts)
  const leave = useWrite('POST /api/user/logout', { onSuccess: forgetUser })
  return (
    <p className={shared.hint}>
      <Button variant="subtle" size="compact-sm" loading={leave.isPending} onClick={() => leave.mutate({})}>
        {say('otherAccount')}
      </Button>
    </p>
  )
}

function Answer({ shown, token }: { shown: Shown; token: string }) {
  const say = useText(texts)
  const client = useQueryClient()
  const navigate = useNavigate()
  const answer = useWrite('POST /api/invitation/answer', {
    onSuccess: (id, { body: { accept } }) => void (accept ? join(id) : leave()),
  })

  async function join(id: number): Promise<void> {
    openInvitation.write(undefined)
    noteOrganisations('own')
    await switchPayer(client, await call('GET /api/organisation/:id', { params: { id } }))
    toast.success(say('joined', { name: shown.organisation }))
    await navigate({ to: '/organisation' })
  }
  async function leave(): Promise<void> {
    openInvitation.write(undefined)
    toast.success(say('declined'))
    await navigate({ to: '/token' })
  }
  async function decline(): Promise<void> {
    const question = { title: say('declineTitle'), object: shown.organisation, body: say('declineBody') }
    if (await confirm({ ...question, confirmLabel: say('decline') })) answer.mutate({ body: { token, accept: false } })
  }
  return (
    <>
      <Button variant="default" disabled={answer.isPending} onClick={() => void decline()}>
        {say('decline')}
      </Button>
      <Button loading={answer.isPending} onClick={() => answer.mutate({ body: { token, accept: true } })}>
        {say('accept')}
      </Button>
    </>
  )
}
