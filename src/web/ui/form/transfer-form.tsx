import { Button, Group, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { callWhole } from '../../lib/call.ts'
import { useExactQuota } from '../../lib/format.ts'
import { defineTexts, useText } from '../../lib/i18n.ts'
import { invalidate } from '../../lib/query.ts'
import { useStatus } from '../../lib/status.ts'
import { toast } from '../../lib/toast.ts'
import { QuotaInput } from './quota-input.tsx'

/** Moves the earnings of invitations to the balance. */
export function TransferForm({ available, onDone }: { available: number; onDone?: () => void }) {
  const say = useText(texts)
  const format = useExactQuota()
  const client = useQueryClient()
  const { quota_per_unit: perUsd } = useStatus()
  const least = Math.ceil(perUsd)
  const form = useForm<{ quota: number | string }>({
    initialValues: { quota: least },
    validate: {
      quota: (typed) =>
        !(Number(typed) >= least)
          ? say('least', { least: format(least) })
          : !(Number.isSafeInteger(Number(typed)) && Number(typed) <= available) && say('most'),
    },
  })
  const transfer = useMutation({
    mutationFn: (quota: number) => callWhole('POST /api/user/aff_transfer', { body: { quota } }),
    onSuccess: async ({ message }) => {
      toast.success(message)
      onDone?.()
      await invalidate(client, ['GET /api/user/self', 'GET /api/user/self/ledger'])
    },
    onError: toast.failure,
  })

  return (
    <form onSubmit={form.onSubmit(({ quota }) => transfer.mutate(Number(quota)))} noValidate>
      <Stack gap="sm">
        <QuotaInput
          data-autofocus
          label={say('quota')}
          description={say('hint', { available: format(available) })}
          {...form.getInputProps('quota')}
        />
        <Group justify="space-between">
          <Button variant="subtle" onClick={() => form.setFieldValue('quota', available)}>
            {say('all')}
          </Button>
          <Button type="submit" loading={transfer.isPending}>
            {say('submit')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

const texts = defineTexts({
  quota: ['划转额度', 'Amount'],
  hint: ['可用额度 {available}', '{available} available'],
  least: ['划转金额最低为 {least}', 'The transfer amount is at least {least}'],
  most: ['超出可用额度', 'Exceeds the available quota'],
  all: ['全部划转', 'Max'],
  submit: ['划转', 'Transfer'],
})
