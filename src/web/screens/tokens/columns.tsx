import { Progress } from '@mantine/core'
import { type Token, tokenStatusLabels } from '../../../contract/entities/token.ts'
import { groupColor } from '../../lib/colors.ts'
import { useText } from '../../lib/i18n.ts'
import { usePayer } from '../../lib/payer.ts'
import { teamChoices, useMembers, useTeams } from '../../lib/places.ts'
import type { Column } from '../../ui/list/listing.ts'
import { OwnTokenTag } from '../../ui/recording/recorded-tag.tsx'
import shared from '../../ui/shared.module.css'
import { QuotaText } from '../../ui/view/quota-text.tsx'
import { HintTag, StatusTag } from '../../ui/view/status-tag.tsx'
import { Tag } from '../../ui/view/tag.tsx'
import { TimeText } from '../../ui/view/time-text.tsx'
import { Expiry } from './expiry.tsx'
import { KeyCell } from './key-cell.tsx'
import { texts } from './texts.ts'
import styles from './tokens.module.css'

export function useColumns(): Column<Token>[] {
  const say = useText(texts)
  const places = usePlaceColumns()
  return [
    {
      key: 'name',
      title: say('name'),
      sortKey: 'name',
      width: 140,
      cell: ({ name }) => <span className={shared.name}>{name}</span>,
    },
    { key: 'status', inCard: 'state', title: say('status'), cell: (token) => <Status token={token} /> },
    ...places,
    { key: 'group', title: say('group'), hideable: true, cell: ({ group }) => <Group group={group} /> },
    { key: 'key', title: say('key'), hideable: true, cell: (token) => <KeyCell token={token} /> },
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
      key: 'remaining',
      inCard: 'figure',
      title: say('remaining'),
      sortKey: 'remain_quota',
      hideable: true,
      align: 'right',
      cell: (token) => <Remaining token={token} />,
    },
    {
      key: 'created',
      title: say('created'),
      sortKey: 'id',
      hideable: true,
      cell: ({ created_time: at }) => <TimeText seconds={at} />,
    },
    {
      key: 'accessed',
      title: say('accessed'),
      sortKey: 'accessed_time',
      hideable: true,
      hidden: true,
      cell: ({ accessed_time: at }) => <TimeText seconds={at} />,
    },
    {
      key: 'expires',
      title: say('expires'),
      sortKey: 'expired_time',
      hideable: true,
      cell: ({ expired_time: at }) => <Expiry at={at} />,
    },
  ]
}

/** Where tokens belong, while an organisation pays for them. */
function usePlaceColumns(): Column<Token>[] {
  const say = useText(texts)
  const payer = usePayer()
  const teams = new Map(teamChoices(useTeams(payer?.id)).map(({ value, label }) => [Number(value), label]))
  const members = new Map(useMembers(payer?.id).map(({ id, username }) => [id, username]))
  const named = (names: ReadonlyMap<number, string>, id = 0) => (id === 0 ? null : (names.get(id) ?? `#${id}`))
  if (!payer) return []
  return [
    { key: 'member', title: say('member'), hideable: true, cell: ({ member_id }) => named(members, member_id) },
    { key: 'team', title: say('team'), hideable: true, cell: ({ team_id }) => named(teams, team_id) },
  ]
}

function Status({ token }: { token: Token }) {
  const say = useText(texts)
  const { status, model_limits_enabled: limited, model_limits: models } = token
  return (
    <div className={styles.tags}>
      <StatusTag state={tokenStatusLabels[status]} />
      <OwnTokenTag id={token.id} />
      {limited && (
        <HintTag color="blue" hint={say('limitedTo', { models: models.replaceAll(',', ', ') })}>
          {say('limited')}
        </HintTag>
      )}
    </div>
  )
}

function Group({ group }: { group: string }) {
  const say = useText(texts)
  return group === '' ? <Tag color="orange">{say('ownGroup')}</Tag> : <Tag color={groupColor(group)}>{group}</Tag>
}

function Remaining({ token }: { token: Token }) {
  const say = useText(texts)
  const { unlimited_quota: unlimited, remain_quota: remaining, used_quota: used } = token
  if (unlimited) return <Tag>{say('unlimited')}</Tag>
  const share = Math.max(0, remaining) / Math.max(1, remaining + used)
  return (
    <div className={styles.remaining}>
      <QuotaText units={remaining} />
      {used > 0 && (
        <Progress
          size={4}
          value={share * 100}
          color={shareColor(share)}
          aria-label={say('remainingShare', { percent: Math.round(share * 100) })}
        />
      )}
    </div>
  )
}

function shareColor(share: number): string {
  if (share < 0.1) return 'red'
  return share < 0.3 ? 'orange' : 'sluice'
}
