import { IconReceipt } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { type ListedToken, neverExpires, tokenStatus, tokenStatusLabels } from '../../../contract/entities/token.ts'
import type { User } from '../../../contract/entities/user.ts'
import { formatCount } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { usePageSize } from '../../lib/page-size.ts'
import { startOfDay } from '../../lib/times.ts'
import { useBudgetsAction } from '../../ui/budgets/use-budgets-action.tsx'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { DataTable } from '../../ui/list/data-table.tsx'
import { useList } from '../../ui/list/list-rows.ts'
import type { Column } from '../../ui/list/listing.ts'
import { actionIcon } from '../../ui/list/row-action.ts'
import { RowActions } from '../../ui/list/row-actions.tsx'
import shared from '../../ui/shared.module.css'
import { QuotaText } from '../../ui/view/quota-text.tsx'
import { StatusTag } from '../../ui/view/status-tag.tsx'
import { TimeText } from '../../ui/view/time-text.tsx'
import { texts } from './texts.ts'

/** The tokens of a user, for admins: their state, limits and usage, never their keys. */
export function TokensDialog({ user, onClose }: { user: Pick<User, 'id' | 'username'>; onClose: () => void }) {
  const say = useText(texts)
  const columns = useColumns()
  const page_size = usePageSize()
  const [page, setPage] = useState(1)
  const tokens = useList('GET /api/user/:id/tokens', { params: { id: user.id }, query: { p: page, page_size } })
  const title = say('tokensTitle', { name: user.username })
  return (
    <Dialog title={title} size={860} onClose={onClose}>
      <p className={shared.quiet}>{say('tokensHint')}</p>
      <DataTable
        label={title}
        dense
        columns={columns}
        {...tokens}
        rowKey={({ id }) => id}
        page={page}
        onPage={setPage}
        isMuted={({ status }) => status !== tokenStatus.enabled}
        rowActions={(token) => <TokenActions user={user} token={token} />}
        empty={{ title: say('noTokens') }}
      />
    </Dialog>
  )
}

function TokenActions({ user, token: { id, name } }: { user: Pick<User, 'username'>; token: ListedToken }) {
  const say = useText(texts)
  const navigate = useNavigate()
  const budgets = useBudgetsAction({ scope: 'token', subject: String(id), name })
  const showLogs = () => void navigate({ to: '/log', search: { username: user.username, token_name: name, from: startOfDay(6) } })
  return (
    <>
      <RowActions
        name={name}
        actions={[
          { label: say('showLogs'), icon: <IconReceipt {...actionIcon} />, primary: true, onClick: showLogs },
          { ...budgets.action, primary: true },
        ]}
      />
      {budgets.dialog}
    </>
  )
}

function useColumns(): Column<ListedToken>[] {
  const say = useText(texts)
  return [
    { key: 'name', title: say('tokenName'), heads: true, cell: ({ name }) => name },
    { key: 'status', title: say('status'), cell: ({ status }) => <StatusTag state={tokenStatusLabels[status]} /> },
    { key: 'used', title: say('used'), align: 'right', cell: ({ used_quota: used }) => <QuotaText units={used} /> },
    {
      key: 'remaining',
      title: say('tokenRemaining'),
      align: 'right',
      cell: ({ unlimited_quota: unlimited, remain_quota: left }) =>
        unlimited ? <span className={shared.quiet}>{say('tokenUnlimited')}</span> : <QuotaText units={left} />,
    },
    { key: 'limits', title: say('tokenLimits'), cell: (token) => <Limits token={token} /> },
    { key: 'accessed', title: say('tokenAccessed'), cell: ({ accessed_time: at }) => <TimeText seconds={at} /> },
    {
      key: 'expires',
      title: say('tokenExpires'),
      cell: ({ expired_time: at }) =>
        at === neverExpires ? <span className={shared.quiet}>{say('tokenNever')}</span> : <TimeText seconds={at} />,
    },
  ]
}

function Limits({ token }: { token: ListedToken }) {
  const say = useText(texts)
  const { limit_requests: requests, limit_tokens: tokens, limit_concurrency: concurrency, limit_seconds: seconds } = token
  const counted = [
    requests > 0 && say('limitRequests', { count: formatCount(requests) }),
    tokens > 0 && say('limitTokens', { count: formatCount(tokens) }),
  ].filter((limit) => limit !== false)
  const models = token.model_limits_enabled ? token.model_limits.split(',').filter((name) => name !== '').length : 0
  const all = [
    counted.length > 0 && say('limitWindow', { limits: counted.join(' · '), seconds }),
    concurrency > 0 && say('limitConcurrency', { count: concurrency }),
    models > 0 && say('limitModels', { count: models }),
  ].filter((limit) => limit !== false)
  return all.length > 0 ? <span title={token.model_limits.replaceAll(',', ', ')}>{all.join(' · ')}</span> : null
}
