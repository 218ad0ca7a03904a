import { useForm } from '@mantine/form'
import { type OrganisationBudget, raiseFields } from '../../../../contract/entities/budget.ts'
import { blankFaults } from '../../../../contract/fields.ts'
import { ApiError } from '../../../lib/call.ts'
import { localOf, useText } from '../../../lib/i18n.ts'
import type { Payer } from '../../../lib/payer.ts'
import { useWrite } from '../../../lib/query.ts'
import { nowSeconds } from '../../../lib/times.ts'
import { amountOf, amountsUsd } from '../../../ui/budgets/windows.ts'
import { DrawerForm } from '../../../ui/dialog/drawer-form.tsx'
import { useDollarOffers } from '../../../ui/form/dollar-offers.ts'
import { FieldsForm } from '../../../ui/form/fields-form.tsx'
import shared from '../../../ui/shared.module.css'
import { texts } from './texts.ts'

/** Asks those who decide about a budget for a greater amount. */
export function RaiseForm({ payer, budget, onDone }: { payer: Payer; budget: OrganisationBudget; onDone: () => void }) {
  const say = useText(texts)
  const form = useForm({
    initialValues: { amount: String(amountOf(budget, nowSeconds()) * 2), reason: '' },
    validate: (values) => blankFaults(raiseFields, values, localOf),
  })
  const offers = useDollarOffers()(amountsUsd, (quota) => form.setFieldValue('amount', String(quota)))
  const ask = useWrite('POST /api/organisation/:id/budgets/:budget/raise', {
    invalidates: ['GET /api/organisation/:id/raises'],
    success: say('raiseSent'),
    onSuccess: onDone,
    onFailure: (cause) => {
      if (!(cause instanceof ApiError) || cause.code !== 'nothing_changed') return false
      form.setFieldError('amount', cause.message)
      return true
    },
  })
  const submit = form.onSubmit(({ amount, reason }) =>
    ask.mutate({ params: { id: payer.id, budget: budget.id }, body: { amount: Math.round(Number(amount)), reason } }),
  )
  return (
    <DrawerForm busy={ask.isPending} dirty={form.isDirty()} submitLabel={say('send')} onSubmit={submit}>
      <p className={shared.hint}>{say('raiseHint')}</p>
      <FieldsForm fields={raiseFields} form={form} inputs={{ amount: { offers, isFirst: true } }} />
    </DrawerForm>
  )
}
