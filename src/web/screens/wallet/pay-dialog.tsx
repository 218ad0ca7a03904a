import { Button, Group, Stack } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { paymentMethods, topUpStatus } from '../../../contract/entities/top-up.ts'
import { callWhole } from '../../lib/call.ts'
import { formatCount, useQuotaFormat } from '../../lib/format.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { invalidate } from '../../lib/query.ts'
import { useStatus } from '../../lib/status.ts'
import { toast } from '../../lib/toast.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { Facts } from '../../ui/page/facts.tsx'
import { Notice } from '../../ui/page/notice.tsx'
import { CopyText } from '../../ui/view/copy-text.tsx'
import { texts } from './texts.ts'
import { useOrder } from './use-order.ts'

interface Wanted {
  readonly amount: number
  readonly method: string
  /** The price as text. */
  readonly money: string
}

/** Confirms the purchase, creates the order, and waits beside the payment page until it is paid. */
export function PayDialog({ onClose, ...wanted }: Wanted & { onClose: () => void }) {
  const say = useText(texts)
  const client = useQueryClient()
  const order = useMutation({
    mutationFn: () => placeOrder(wanted),
    onSuccess: ({ page }) => {
      // If the browser blocks the window, the dialog has a link.
      window.open(page, '_blank', 'noopener,noreferrer')
      return invalidate(client, ['GET /api/user/self/topups'])
    },
    onError: toast.failure,
  })
  if (order.data) return <Waiting {...order.data} onClose={onClose} />

  return (
    <Dialog title={say('confirmTitle')} size="md" onClose={onClose}>
      <Stack gap="md">
        <Wish {...wanted} />
        <Group justify="flex-end">
          <Button data-autofocus loading={order.isPending} onClick={() => order.mutate()}>
            {say('confirmPay')}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

function Wish({ amount, method, money }: Wanted) {
  const say = useText(texts)
  const local = useLocal()
  const { display_in_currency: inCurrency } = useStatus()
  const [, known] = Object.entries(paymentMethods).find(([name]) => name === method) ?? []
  return (
    <Facts
      facts={[
        { label: say('credited'), value: `${inCurrency ? '$' : ''}${formatCount(amount)}` },
        { label: say('toPay'), value: money },
        { label: say('method'), value: known ? local(known.label) : method },
      ]}
    />
  )
}

function Waiting({ tradeNo, page, onClose }: Placed & { onClose: () => void }) {
  const say = useText(texts)
  const format = useQuotaFormat()
  const order = useOrder(tradeNo)
  const isCredited = order?.status === topUpStatus.success
  return (
    <Dialog title={say(isCredited ? 'online' : 'waitingTitle')} size="md" onClose={onClose}>
      <Stack gap="md">
        <Notice>{isCredited ? say('orderCredited', { amount: format(order.quota) }) : say('waiting')}</Notice>
        <Facts facts={[{ label: say('orderNo'), value: <CopyText text={tradeNo} /> }]} />
        <Group justify="flex-end">
          <Button variant={isCredited ? 'filled' : 'subtle'} onClick={onClose}>
            {say(isCredited ? 'ok' : 'later')}
          </Button>
          {!isCredited && (
            <Button
              component="a"
              href={page}
              target="_blank"
              rel="noopener noreferrer"
              rightSection={<IconExternalLink size={16} />}
            >
              {say('openPage')}
            </Button>
          )}
        </Group>
      </Stack>
    </Dialog>
  )
}

interface Placed {
  readonly tradeNo: string
  readonly page: string
}

/** Gateways take the signed fields in the address as well as in a form; a link opens where the browser would stop a form. */
async function placeOrder({ amount, method }: Wanted): Promise<Placed> {
  const answer = await callWhole('POST /api/user/pay', { body: { amount, top_up_code: '', payment_method: method } })
  const { data, url = '', trade_no: tradeNo = '' } = answer
  const fields = typeof data === 'string' ? '' : new URLSearchParams(data).toString()
  return { tradeNo, page: fields === '' ? url : `${url}?${fields}` }
}
