import {
  IconArrowDown,
  IconArrowUp,
  IconCircleCheck,
  IconCircleOff,
  IconCoins,
  IconDoorExit,
  IconLockOpen,
  IconPencil,
  IconShieldOff,
  IconTrash,
} from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { ManageAction, User } from '../../../contract/entities/user.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { useSession } from '../../lib/session.ts'
import { confirm } from '../../ui/confirm.tsx'
import type { RowAction } from '../../ui/row-action.ts'
import { RowActions } from '../../ui/row-actions.tsx'
import { actsFor, mayChange } from './acts.ts'
import { texts } from './texts.ts'

const icon = { size: 16, stroke: 1.6 } as const

type Key = keyof typeof texts.keys

/** How an act is offered and asked about; what can be taken back without loss is not asked about. */
interface Offer {
  readonly label: Key
  readonly icon: ReactNode
  readonly ask?: { readonly title: Key; readonly body: Key }
  readonly danger?: true
}

const offers: Readonly<Record<ManageAction, Offer>> = {
  promote: {
    label: 'promote',
    icon: <IconArrowUp {...icon} />,
    ask: { title: 'promoteTitle', body: 'promoteBody' },
  },
  demote: { label: 'demote', icon: <IconArrowDown {...icon} />, ask: { title: 'demoteTitle', body: 'demoteBody' } },
  enable: { label: 'enable', icon: <IconCircleCheck {...icon} /> },
  unlock: { label: 'unlock', icon: <IconLockOpen {...icon} /> },
  disable: {
    label: 'disable',
    icon: <IconCircleOff {...icon} />,
    ask: { title: 'disableTitle', body: 'disableBody' },
    danger: true,
  },
  sign_out: { label: 'signOut', icon: <IconDoorExit {...icon} />, ask: { title: 'signOutTitle', body: 'signOutBody' } },
  reset_factors: {
    label: 'resetFactors',
    icon: <IconShieldOff {...icon} />,
    ask: { title: 'resetFactorsTitle', body: 'resetFactorsBody' },
    danger: true,
  },
  delete: {
    label: 'remove',
    icon: <IconTrash {...icon} />,
    ask: { title: 'removeTitle', body: 'removeBody' },
    danger: true,
  },
}

export interface ActionsProps {
  readonly user: User
  readonly onEdit: () => void
  readonly onQuota: () => void
}

/** What this admin may do with this user; nothing with a deleted one. */
export function Actions({ user, onEdit, onQuota }: ActionsProps) {
  const say = useText(texts)
  const me = useSession()
  const manage = useWrite('POST /api/user/manage', { invalidates: ['GET /api/user/search'], success: say('done') })
  if (!me || user.DeletedAt !== null) return null

  async function act(action: ManageAction): Promise<void> {
    const { ask, label, danger = false } = offers[action]
    const object = `#${user.id} ${user.username}`
    const sure = !ask || (await confirm({ title: say(ask.title), object, body: say(ask.body), confirmLabel: say(label), danger }))
    if (sure) manage.mutate({ body: { id: user.id, action } })
  }

  const isOwn = user.id === me.id
  const changes: RowAction[] = [
    { label: say('edit'), icon: <IconPencil {...icon} />, primary: true, onClick: onEdit },
    ...(isOwn ? [] : [{ label: say('quota'), icon: <IconCoins {...icon} />, onClick: onQuota }]),
  ]
  const acts: RowAction[] = actsFor(me, user).map((action) => ({
    label: say(offers[action].label),
    icon: offers[action].icon,
    danger: offers[action].danger,
    disabled: manage.isPending,
    onClick: () => void act(action),
  }))
  return <RowActions name={user.username} actions={isOwn || mayChange(me, user) ? [...changes, ...acts] : []} />
}
