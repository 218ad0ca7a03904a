import { Button, Group, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { type Budget, budgetLimits, budgetOverrideFields } from '../../../contract/entities/budget.ts'
import { blankFaults } from '../../../contract/fields.ts'
import { localOf, useText } from '../../lib/i18n.ts'
import { Dialog } from '../dialog/dialog.tsx'
import { useDollarOffers } from '../form/dollar-offers.ts'
import { FieldsForm } from '../form/fields-form.tsx'
import shared from '../shared.module.css'
import { texts } from './texts.ts'
import { amountsUsd } from './windows.ts'
import { useBudgetWrites } from './writes.ts'

/** Another amount for this and the next windows. */
export function OverrideDialog({ budget, onClose }: { budget: Budget; onClose: () => void }) {
  const say = useText(texts)
  const form = useForm<{ amount: string; windows: number | string }>({
    initialValues: { amount: String(budget.override?.amount ?? budget.amount), windows: 1 },
    validate: (values) => ({
      ...blankFaults(budgetOverrideFields, values, localOf),
      ...(values.windows === '' || Number(values.windows) > budgetLimits.windowsMax ? { windows: say('windowsInvalid') } : {}),
    }),
  })
  const amounts = useDollarOffers()(amountsUsd, (quota) => form.setFieldValue('amount', String(quota)))
  const counts = [0, 1, 3, 7, 30].map((count) => ({
    label: String(count),
    onClick: () => form.setFieldValue('windows', count),
  }))
  const { override, isPending } = useBudgetWrites({ success: say('saved'), onSuccess: onClose })
  return (
    <Dialog title={say('override')} size="md" onClose={onClose}>
      <form
        noValidate
        onSubmit={form.onSubmit(({ amount, windows }) =>
          override(budget.id, { amount: Math.round(Number(amount)), windows: Number(windows) }),
        )}
      >
        <Stack gap="sm">
          <p className={shared.intro}>{say('overrideHint')}</p>
          <FieldsForm
            fields={budgetOverrideFields}
            form={form}
            inputs={{ amount: { offers: amounts }, windows: { offers: counts } }}
          />
          <Group justify="flex-end">
            <Button type="submit" loading={isPending}>
              {say('save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
