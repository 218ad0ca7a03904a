import {
  IconArrowDown,
  IconArrowUp,
  IconCircleCheck,
  IconCircleOff,
  IconCoins,
  IconDoorExit,
  IconKey,
  IconLockOpen,
  IconPencil,
  IconReceipt,
  IconShieldOff,
  IconTrash,
} from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ManageAction, User } from '../../../contract/entities/user.ts'
import { isRoot } from '../../../contract/roles.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { useSession } from '../../lib/session.ts'
import { startOfDay } from '../../lib/times.ts'
import { useBudgetsAction } from '../../ui/budgets/use-budgets-action.tsx'
import { actionIcon, type RowAction } from '../../ui/list/row-action.ts'
import { RowActions } from '../../ui/list/row-actions.tsx'
import { useRecordAction } from '../../ui/recording/use-record-action.tsx'
import { allowedActions, isEnableForbidden, mayChange } from './allowed-actions.ts'
import { texts } from './texts.ts'

type Key = keyof typeof texts

/** The label and confirmation of an action; reversible actions need no confirmation. */
interface Offer {
  readonly label: Key
  readonly icon: ReactNode
  readonly ask?: { readonly title: Key; readonly body: Key }
  readonly danger?: true
}

const offers: Readonly<Record<ManageAction, Offer>> = {
  promote: {
    label: 'promote',
    icon: <IconArrowUp {...actionIcon} />,
    ask: { title: 'promoteTitle', body: 'promoteBody' },
  },
  demote: { label: 'demote', icon: <IconArrowDown {...actionIcon} />, ask: { title: 'demoteTitle', body: 'demoteBody' } },
  enable: { label: 'enable', icon: <IconCircleCheck {...actionIcon} /> },
  unlock: { label: 'unlock', icon: <IconLockOpen {...actionIcon} /> },
  disable: {
    label: 'disable',
    icon: <IconCircleOff {...actionIcon} />,
    ask: { title: 'disableTitle', body: 'disableBody' },
    danger: true,
  },
  sign_out: { label: 'signOut', icon: <IconDoorExit {...actionIcon} />, ask: { title: 'signOutTitle', body: 'signOutBody' } },
  reset_factors: {
    label: 'resetFactors',
    icon: <IconShieldOff {...actionIcon} />,
    ask: { title: 'resetFactorsTitle', body: 'resetFactorsBody' },
    danger: true,
  },
  delete: {
    label: 'remove',
    icon: <IconTrash {...actionIcon} />,
    ask: { title: 'removeTitle', body: 'removeBody' },
    danger: true,
  },
}

interface ActionsProps {
  readonly user: User
  readonly onEdit: () => void
  readonly onQuota: () => void
  readonly onTokens: () => void
}

/** The actions of this admin on this user; none on a deleted user. */
export function Actions({ user, onEdit, onQuota, onTokens }: ActionsProps) {
  const say = useText(texts)
  const me = useSession()
  const navigate = useNavigate()
  const manage = useWrite('POST /api/user/manage', { invalidates: ['GET /api/user/search'], success: say('done') })
  const record = useRecordAction({ kind: 'user', id: user.id, name: user.username })
  const budgets = useBudgetsAction({ scope: 'user', subject: String(user.id), name: user.username })
  if (!me || user.DeletedAt !== null) return null

  const isOwn = user.id === me.id
  const changes: RowAction[] = [
    { label: say('edit'), icon: <IconPencil {...actionIcon} />, primary: true, onClick: onEdit },
    {
      label: say('showLogs'),
      icon: <IconReceipt {...actionIcon} />,
      onClick: () => void navigate({ to: '/log', search: { username: user.username, from: startOfDay(6) } }),
    },
    { label: say('showTokens'), icon: <IconKey {...actionIcon} />, onClick: onTokens },
    budgets.action,
    ...(isRoot(me.role) ? [record.action] : []),
    ...(isOwn ? [] : [{ label: say('quota'), icon: <IconCoins {...actionIcon} />, onClick: onQuota }]),
  ]
  const managing: RowAction[] = allowedActions(me, user).map((action) => {
    const { ask, label, ...offer } = offers[action]
    return {
      ...offer,
      label: say(label),
      disabled: manage.isPending,
      ask: ask && { title: say(ask.title), object: `#${user.id} ${user.username}`, body: say(ask.body) },
      onClick: () => manage.mutate({ body: { id: user.id, action } }),
    }
  })
  const barred: RowAction[] = isEnableForbidden(me, user)
    ? [{ icon: offers.enable.icon, label: say('enable'), disabled: true, onClick: () => undefined }]
    : []
  const actions = isOwn || mayChange(me, user) ? [...changes, ...managing, ...barred] : []
  return (
    <>
      <RowActions name={user.username} actions={actions} />
      {budgets.dialog}
      {record.dialog}
    </>
  )
}
