import { Box, Button, Group, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { type AdminTopUp, topUpReasonLengthMax } from '../../../contract/entities/top-up.ts'
import { useExactQuota } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { QuotaInput } from '../../ui/form/quota-input.tsx'
import shared from '../../ui/shared.module.css'
import type { TopUpAction } from './actions.tsx'
import { texts } from './texts.ts'
import styles from './top-ups.module.css'

interface Values {
  quota: number | string
  reason: string
}

/** Credits an order by hand, or takes back the quota of a refund or a chargeback; both with a reason. */
export function ActionDialog({ action, order, onClose }: { action: TopUpAction; order: AdminTopUp; onClose: () => void }) {
  const say = useText(texts)
  const format = useExactQuota()
  const isWithdrawal = action === 'withdraw'
  const form = useForm<Values>({
    initialValues: { quota: refundedQuota(order), reason: '' },
    validate: {
      quota: (typed) => isWithdrawal && !isPart(Number(typed), order.quota) && say('quotaInvalid'),
      reason: (text) => text.trim() === '' && say('reasonRequired'),
    },
  })
  const { save, busy } = useAction(order, { action, onClose })

  return (
    <Dialog title={say(isWithdrawal ? 'withdrawTitle' : 'completeTitle')} size="md" onClose={onClose}>
      <form onSubmit={form.onSubmit(save)} noValidate>
        <Stack gap="md">
          <p className={styles.object}>
            {order.trade_no} · {order.username} · {format(order.quota)}
          </p>
          <Box component="p" m={0} className={shared.quiet}>
            {say(isWithdrawal ? 'withdrawBody' : 'completeBody')}
          </Box>
          {isWithdrawal && (
            <QuotaInput
              label={say('withdrawQuota')}
              description={say('withdrawMost', { whole: format(order.quota) })}
              {...form.getInputProps('quota')}
            />
          )}
          <TextInput
            data-autofocus
            label={say('reason')}
            withAsterisk
            maxLength={topUpReasonLengthMax}
            {...form.getInputProps('reason')}
          />
          <Group justify="flex-end">
            <Button type="submit" color={isWithdrawal ? 'red' : undefined} loading={busy}>
              {say(isWithdrawal ? 'withdrawSubmit' : 'completeSubmit')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}

function useAction({ id }: AdminTopUp, { action, onClose }: { action: TopUpAction; onClose: () => void }) {
  const say = useText(texts)
  const done = { invalidates: ['GET /api/topup/'], onSuccess: onClose } as const
  const complete = useWrite('POST /api/topup/:id/complete', { ...done, success: say('creditedDone') })
  const withdraw = useWrite('POST /api/topup/:id/withdraw', { ...done, success: say('withdrawn') })

  function save({ quota, reason }: Values): void {
    const params = { id }
    if (action === 'withdraw') withdraw.mutate({ params, body: { quota: Number(quota), reason: reason.trim() } })
    else complete.mutate({ params, body: { reason: reason.trim() } })
  }
  return { save, busy: complete.isPending || withdraw.isPending }
}

/** The part of the quota that was paid back, all of it in a dispute. */
function refundedQuota({ quota, refunded_minor, money_minor, dispute }: AdminTopUp): number {
  if (dispute !== '' || refunded_minor === 0) return quota
  return Math.min(quota, Math.ceil((quota * refunded_minor) / money_minor))
}

function isPart(quota: number, whole: number): boolean {
  return Number.isSafeInteger(quota) && quota >= 1 && quota <= whole
}
