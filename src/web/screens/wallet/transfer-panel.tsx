import { Button, NumberInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { formatQuota } from '../../../contract/quota.ts'
import { type CallReply, callWhole } from '../../lib/call.ts'
import { formatCount, useQuotaFormat } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { invalidate } from '../../lib/query.ts'
import { useStatus } from '../../lib/status.ts'
import { toast } from '../../lib/toast.ts'
import { Facts } from '../../ui/facts.tsx'
import { Panel } from '../../ui/panel.tsx'
import { QuotaText } from '../../ui/quota-text.tsx'
import { texts } from './texts.ts'
import styles from './wallet.module.css'

/** Moves what invitations have earned to the balance. */
export function TransferPanel({ self }: { self: CallReply<'GET /api/user/self'> }) {
  const say = useText(texts)
  const format = useQuotaFormat()
  const { quota_per_unit: perUsd } = useStatus()
  const least = Math.ceil(perUsd)
  const { aff_quota: available } = self
  return (
    <Panel
      title={say('transfer')}
      description={say('transferHint')}
      aside={
        <Button component={Link} to="/setting" variant="subtle" size="compact-sm">
          {say('toInvite')}
        </Button>
      }
    >
      <div className={styles.stack}>
        <Facts
          facts={[
            { label: say('transferAvailable'), value: <QuotaText units={available} /> },
            { label: say('transferEarned'), value: <QuotaText units={self.aff_history_quota} /> },
            { label: say('transferInvited'), value: formatCount(self.aff_count) },
          ]}
        />
        {available >= least ? (
          <TransferForm available={available} least={least} />
        ) : (
          <p className={styles.quiet}>
            {available > 0 ? say('transferTooLittle', { least: format(least) }) : say('transferNone')}
          </p>
        )}
      </div>
    </Panel>
  )
}

function TransferForm({ available, least }: { available: number; least: number }) {
  const say = useText(texts)
  const format = useQuotaFormat()
  const client = useQueryClient()
  const { quota_per_unit: perUsd } = useStatus()
  const [typed, setTyped] = useState<number | string>(least)
  const quota = Number(typed)
  const fault =
    !Number.isSafeInteger(quota) || quota < least
      ? say('transferLeast', { least: format(least) })
      : quota > available && say('transferMost')
  const transfer = useMutation({
    mutationFn: () => callWhole('POST /api/user/aff_transfer', { body: { quota } }),
    onSuccess: ({ message }) => {
      toast.success(message)
      return invalidate(client, ['GET /api/user/self', 'GET /api/user/self/ledger'])
    },
    onError: toast.failure,
  })

  function submit(event: FormEvent): void {
    event.preventDefault()
    if (!fault) transfer.mutate()
  }

  return (
    <form className={styles.transfer} onSubmit={submit} noValidate>
      <div className={styles.line}>
        <NumberInput
          label={say('transferQuota')}
          allowDecimal={false}
          allowNegative={false}
          thousandSeparator=","
          value={typed}
          onChange={setTyped}
          error={fault !== false}
        />
        <Button variant="default" onClick={() => setTyped(available)}>
          {say('transferAll')}
        </Button>
        <Button type="submit" loading={transfer.isPending} disabled={fault !== false}>
          {say('transferSubmit')}
        </Button>
      </div>
      <p className={fault ? styles.refusal : styles.quiet} aria-live="polite">
        {fault || say('transferEquivalent', { amount: formatQuota(quota || 0, { inCurrency: true, perUsd }) })}
      </p>
    </form>
  )
}
