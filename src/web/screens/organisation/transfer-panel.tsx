import { Button, Select } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Organisation } from '../../../contract/entities/organisation.ts'
import { useText } from '../../lib/i18n.ts'
import { rememberPayer } from '../../lib/payer.ts'
import { useMembers } from '../../lib/places.ts'
import { useWrite } from '../../lib/query.ts'
import { useSession } from '../../lib/session.ts'
import { perform } from '../../ui/list/row-action.ts'
import { Notice } from '../../ui/page/notice.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import styles from './organisation.module.css'
import { texts } from './texts.ts'

/** An offer to the user, to accept. */
export function OfferedNotice({ organisation: { id, transfer_to } }: { organisation: Organisation }) {
  const say = useText(texts)
  const client = useQueryClient()
  const me = useSession()
  const accept = useWrite('POST /api/organisation/:id/transfer/accept', {
    invalidates: ['GET /api/organisation/:id', 'GET /api/organisation/:id/members'],
    success: say('transferred'),
    onSuccess: (accepted) => {
      rememberPayer(accepted)
      void client.invalidateQueries({ queryKey: ['payer'] })
    },
  })
  if (transfer_to === 0 || transfer_to !== me?.id) return null
  return (
    <Notice
      action={
        <Button size="compact-sm" loading={accept.isPending} onClick={() => accept.mutate({ params: { id } })}>
          {say('acceptTransfer')}
        </Button>
      }
    >
      {say('offeredToYou')}
    </Notice>
  )
}

/** Offers the organisation to a member, who becomes its owner by accepting. */
export function TransferPanel({ organisation: { id, name, transfer_to } }: { organisation: Organisation }) {
  const say = useText(texts)
  const [typed, setTyped] = useState('')
  const [chosen, setChosen] = useState<string | null>(null)
  const members = useMembers(id, typed)
  const others = useMembers(id).filter(({ user_id }) => user_id === transfer_to)
  const invalidates = ['GET /api/organisation/:id'] as const
  const offer = useWrite('POST /api/organisation/:id/transfer', { invalidates, success: say('offered') })
  const withdraw = useWrite('POST /api/organisation/:id/transfer', { invalidates, success: say('offerWithdrawn') })
  const candidates = members.filter(({ role }) => role !== 'owner')
  const ask = () => {
    const object = candidates.find((each) => String(each.id) === chosen)?.username ?? name
    const onClick = () => offer.mutate({ params: { id }, body: { member_id: Number(chosen) } })
    void perform({ label: say('offer'), ask: { title: say('offerTitle'), object, body: say('transferHint') }, onClick })
  }
  return (
    <Panel title={say('transfer')} description={say('transferHint')}>
      {transfer_to === 0 ? (
        <div className={styles.line}>
          <Select
            label={say('transferTo')}
            placeholder={say('transferChoose')}
            searchable
            data={candidates.map((each) => ({ value: String(each.id), label: each.username }))}
            filter={({ options }) => options}
            value={chosen}
            onChange={setChosen}
            onSearchChange={setTyped}
          />
          <Button variant="default" disabled={chosen === null} loading={offer.isPending} onClick={ask}>
            {say('offer')}
          </Button>
        </div>
      ) : (
        <Notice
          action={
            <Button
              size="compact-sm"
              variant="default"
              loading={withdraw.isPending}
              onClick={() => withdraw.mutate({ params: { id }, body: { member_id: 0 } })}
            >
              {say('withdrawOffer')}
            </Button>
          }
        >
          {say('offeredTo', { name: others[0]?.username ?? `#${transfer_to}` })}
        </Notice>
      )}
    </Panel>
  )
}
