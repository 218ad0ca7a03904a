import { Button, Group, NumberInput, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { type Budget, budgetLimits } from '../../../contract/entities/budget.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { Dialog } from '../dialog/dialog.tsx'
import { Choices } from '../form/choices.tsx'
import shared from '../shared.module.css'
import { AmountField } from './amount-field.tsx'
import { texts } from './texts.ts'

/** Another amount for this and the next windows. */
export function OverrideDialog({ budget, onClose }: { budget: Budget; onClose: () => void }) {
  const say = useText(texts)
  const form = useForm<{ amount: string; windows: number | string }>({
    initialValues: { amount: String(budget.override?.amount ?? budget.amount), windows: 1 },
    validate: {
      amount: (typed) => (typed === '' || Number(typed) < 0) && say('amountInvalid'),
      windows: (typed) =>
        !(Number.isInteger(Number(typed)) && typed !== '' && Number(typed) >= 0 && Number(typed) <= budgetLimits.windowsMax) &&
        say('windowsInvalid'),
    },
  })
  const save = useWrite('POST /api/budget/:id/override', {
    invalidates: ['GET /api/budget/'],
    success: say('saved'),
    onSuccess: onClose,
  })
  return (
    <Dialog title={say('override')} size="md" onClose={onClose}>
      <form
        noValidate
        onSubmit={form.onSubmit(({ amount, windows }) =>
          save.mutate({ params: { id: budget.id }, body: { amount: Math.round(Number(amount)), windows: Number(windows) } }),
        )}
      >
        <Stack gap="sm">
          <p className={shared.intro}>{say('overrideHint')}</p>
          <AmountField {...form.getInputProps('amount')} value={form.values.amount} />
          <div>
            <NumberInput label={say('windows')} allowDecimal={false} allowNegative={false} {...form.getInputProps('windows')} />
            <Choices
              offers={[0, 1, 3, 7, 30].map((count) => ({
                label: String(count),
                onClick: () => form.setFieldValue('windows', count),
              }))}
            />
          </div>
          <Group justify="flex-end">
            <Button type="submit" loading={save.isPending}>
              {say('save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
