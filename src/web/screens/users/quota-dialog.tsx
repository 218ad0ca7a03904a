import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { User } from '../../../contract/entities/user.ts'
import { useExactQuota } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { useStatus } from '../../lib/status.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { Choices } from '../../ui/form/choices.tsx'
import { QuotaInput } from '../../ui/form/quota-input.tsx'
import { texts } from './texts.ts'
import styles from './users.module.css'

const stepsUsd = [-10, -1, 1, 10, 50, 100]

/** Adds to a balance or takes from it, with a reason. Quota spent meanwhile stays spent. */
export function QuotaDialog({ user, onClose }: { user: User; onClose: () => void }) {
  const say = useText(texts)
  const format = useExactQuota()
  const { quota_per_unit: perUsd } = useStatus()
  const form = useForm<{ change: number | string; reason: string }>({
    initialValues: { change: '', reason: '' },
    validate: {
      change: (typed) => {
        if (!Number.isSafeInteger(Number(typed)) || Number(typed) === 0) return say('changeRequired')
        return Number(typed) < 0 && user.quota + Number(typed) < 0 && say('changeTooLow')
      },
      reason: (text) => text.trim() === '' && say('reasonRequired'),
    },
  })
  const save = useWrite('POST /api/user/:id/quota', {
    invalidates: ['GET /api/user/search', 'GET /api/user/:id'],
    success: say('quotaSaved'),
    onSuccess: onClose,
  })
  const change = Number(form.values.change) || 0
  const sum = {
    before: format(user.quota),
    sign: change < 0 ? '−' : '+',
    change: format(Math.abs(change)),
    after: format(user.quota + change),
  }

  return (
    <Dialog title={say('quotaTitle', { name: user.username })} size="md" onClose={onClose}>
      <form
        onSubmit={form.onSubmit(({ reason }) =>
          save.mutate({ params: { id: user.id }, body: { change, reason: reason.trim() } }),
        )}
        noValidate
      >
        <Stack gap="sm">
          <div>
            <QuotaInput
              data-autofocus
              label={say('change')}
              description={say('changeHint')}
              allowNegative
              withAsterisk
              {...form.getInputProps('change')}
            />
            <Choices
              offers={stepsUsd.map((usd) => ({
                label: usd < 0 ? `−$${-usd}` : `+$${usd}`,
                onClick: () => form.setFieldValue('change', change + Math.round(usd * perUsd)),
              }))}
            />
          </div>
          <p className={styles.sum}>{say('newQuota', sum)}</p>
          <TextInput
            label={say('reason')}
            description={say('reasonHint')}
            maxLength={200}
            withAsterisk
            {...form.getInputProps('reason')}
          />
          <Group justify="flex-end">
            <Button type="submit" loading={save.isPending}>
              {say('quotaSave')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
