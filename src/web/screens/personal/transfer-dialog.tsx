import { Button, Group, NumberInput, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { formatQuota } from '../../../contract/quota.ts'
import { callWhole } from '../../lib/call.ts'
import { useQuotaFormat } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { invalidate } from '../../lib/query.ts'
import { useStatus } from '../../lib/status.ts'
import { toast } from '../../lib/toast.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { texts } from './texts.ts'

/** Moves what invitations have earned to the balance. */
export function TransferDialog({ available, onClose }: { available: number; onClose: () => void }) {
  const say = useText(texts)
  const format = useQuotaFormat()
  const client = useQueryClient()
  const { quota_per_unit: perUsd } = useStatus()
  const form = useForm<{ quota: number | string }>({
    initialValues: { quota: perUsd },
    validate: {
      quota: (typed) =>
        !(Number(typed) >= perUsd)
          ? say('transferLeast', { least: format(perUsd) })
          : !(Number.isSafeInteger(Number(typed)) && Number(typed) <= available) && say('transferMost'),
    },
  })
  const transfer = useMutation({
    mutationFn: (quota: number) => callWhole('POST /api/user/aff_transfer', { body: { quota } }),
    onSuccess: async ({ message }) => {
      toast.success(message)
      onClose()
      await invalidate(client, ['GET /api/user/self'])
    },
    onError: toast.failure,
  })
  const amount = formatQuota(Number(form.values.quota) || 0, { inCurrency: true, perUsd })

  return (
    <Dialog title={say('transferTitle')} size="md" onClose={onClose}>
      <form onSubmit={form.onSubmit(({ quota }) => transfer.mutate(Number(quota)))} noValidate>
        <Stack gap="sm">
          <NumberInput
            data-autofocus
            label={say('transferQuota')}
            description={say('transferHint', { available: format(available), amount })}
            allowDecimal={false}
            allowNegative={false}
            thousandSeparator=","
            {...form.getInputProps('quota')}
          />
          <Group justify="space-between">
            <Button variant="subtle" onClick={() => form.setFieldValue('quota', available)}>
              {say('transferAll')}
            </Button>
            <Button type="submit" loading={transfer.isPending}>
              {say('transfer')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
