import { type User, userStatusLabels } from '../../../contract/entities/user.ts'
import { roleLabels } from '../../../contract/roles.ts'
import { groupColor } from '../../lib/colors.ts'
import { formatCount, useQuotaFormat } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import type { Column } from '../../ui/list/listing.ts'
import { RuleTag } from '../../ui/recording/recorded-tag.tsx'
import shared from '../../ui/shared.module.css'
import { Initial } from '../../ui/view/initial.tsx'
import { QuotaText, useQuotaHint } from '../../ui/view/quota-text.tsx'
import { HintTag, StatusTag } from '../../ui/view/status-tag.tsx'
import { Tag } from '../../ui/view/tag.tsx'
import { TimeText } from '../../ui/view/time-text.tsx'
import { texts } from './texts.ts'
import styles from './users.module.css'

export function useColumns(): Column<User>[] {
  const say = useText(texts)
  return [
    { key: 'id', title: say('id'), sortKey: 'id', width: 56, cell: ({ id }) => id },
    {
      key: 'username',
      title: say('username'),
      heads: true,
      width: 'clamp(120px, 10vw, 170px)',
      cell: (user) => <Who user={user} />,
    },
    {
      key: 'email',
      title: say('email'),
      hideable: true,
      width: 'clamp(120px, 10.5vw, 220px)',
      cell: ({ email }) =>
        email === '' ? null : (
          <span className={styles.email} title={email}>
            {email}
          </span>
        ),
    },
    { key: 'group', title: say('group'), hideable: true, cell: ({ group }) => <Tag color={groupColor(group)}>{group}</Tag> },
    { key: 'role', title: say('role'), cell: ({ role }) => <StatusTag state={roleStates[role]} /> },
    { key: 'status', inCard: 'state', title: say('status'), cell: (user) => <State user={user} /> },
    {
      key: 'left',
      inCard: 'figure',
      title: say('left'),
      sortKey: 'quota',
      align: 'right',
      cell: ({ quota }) => <QuotaText units={quota} />,
    },
    {
      key: 'used',
      inCard: 'figure',
      title: say('used'),
      sortKey: 'used_quota',
      hideable: true,
      align: 'right',
      cell: ({ used_quota: used }) => <QuotaText units={used} />,
    },
    {
      key: 'requests',
      title: say('requests'),
      sortKey: 'request_count',
      hideable: true,
      align: 'right',
      cell: ({ request_count: count }) => formatCount(count),
    },
    {
      key: 'invited',
      title: say('invited'),
      sortKey: 'aff_count',
      hideable: true,
      align: 'right',
      cell: (user) => <Invited user={user} />,
    },
    {
      key: 'created',
      title: say('created'),
      hideable: true,
      hidden: true,
      cell: ({ created_time: at }) => <TimeText seconds={at} />,
    },
  ]
}

/** Any number may come from the server. */
const roleStates: Readonly<Record<number, (typeof roleLabels)[keyof typeof roleLabels]>> = roleLabels

function Who({ user: { username, display_name: shown } }: { user: User }) {
  return (
    <span className={styles.who}>
      <Initial name={shown || username} size={24} />
      <span className={styles.names}>
        <span>{username}</span>
        {shown !== '' && shown !== username && <small className={shared.quiet}>{shown}</small>}
      </span>
    </span>
  )
}

function State({ user: { id, status, DeletedAt } }: { user: User }) {
  const say = useText(texts)
  if (DeletedAt !== null)
    return (
      <Tag dot color="red">
        {say('deleted')}
      </Tag>
    )
  return (
    <span className={styles.who}>
      <StatusTag state={userStatusLabels[status]} />
      <RuleTag kind="user" target={id} />
    </span>
  )
}

function Invited({ user }: { user: User }) {
  const say = useText(texts)
  const format = useQuotaFormat()
  const hintOf = useQuotaHint()
  const { aff_count: count, aff_history_quota: earned, inviter_id: inviter } = user
  if (count === 0 && inviter === 0) return <span className={shared.quiet}>0</span>
  const hint = [
    say('invitedOf', { count, earned: hintOf(earned) }),
    ...(inviter === 0 ? [] : [say('invitedBy', { id: inviter })]),
  ].join(' · ')
  return <HintTag hint={hint}>{count > 0 ? `${count} · ${format(earned)}` : `← #${inviter}`}</HintTag>
}
